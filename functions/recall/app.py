"""POST /v1/recall: search the caller's past, whatever a turn would ask for."""

from keepsake.api.http import Request, Response, Route, http_handler
from keepsake.api.memory_requests import RecallBody
from keepsake.api.memory_responses import recalled
from keepsake.api.requests import parsed
from keepsake.api.snapshot import before_snapshot
from keepsake.bootstrap import Runtime, runtime


def recall(services: Runtime, request: Request) -> Response:
    """The best hits, each with where it comes from, how sure it is, and what its score is made of."""
    asked = parsed(RecallBody, request.body).request(services.clock.now_ms())
    return Response(recalled(services.asking.ask(request.principal, asked)))


ROUTES = (Route("POST /v1/recall", recall, body=RecallBody),)
lambda_handler = http_handler(ROUTES)
before_snapshot(lambda: runtime().prime_recall())
