"""POST /v1/sessions/{session_id}/turns: take a turn, answer with its context."""

from keepsake.api.http import Request, Response, Route, http_handler
from keepsake.api.requests import TurnBody, parsed
from keepsake.api.responses import turn_taken
from keepsake.api.snapshot import before_snapshot
from keepsake.bootstrap import Runtime, runtime


def take_turn(services: Runtime, request: Request) -> Response:
    """Write the turn down; answer with what the model should see before it replies."""
    command = parsed(TurnBody, request.body).command(request.id("session_id", "session id"))
    return Response(turn_taken(services.turns.take(request.principal, command)))


ROUTES = (Route("POST /v1/sessions/{session_id}/turns", take_turn, body=TurnBody),)
lambda_handler = http_handler(ROUTES)
before_snapshot(lambda: runtime().prime())
before_snapshot(lambda: runtime().prime_recall())
