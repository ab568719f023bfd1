"""Sessions: list them, read one or its log, and keep artifacts on its scratch pad."""

from keepsake.api.http import Request, Response, Route, http_handler
from keepsake.api.requests import ArtifactBody, parsed
from keepsake.api.responses import artifact_read, session_read, sessions_listed, turns_listed
from keepsake.api.wire import number_position, page_size, text_position
from keepsake.bootstrap import Runtime


def list_sessions(services: Runtime, request: Request) -> Response:
    """The caller's sessions, by their ids, in pages."""
    page = services.reading.list_sessions(request.principal, after=text_position(request.query), limit=page_size(request.query))
    return Response(sessions_listed(page))


def read_session(services: Runtime, request: Request) -> Response:
    """The live buffer of a session."""
    view = services.reading.read(request.principal, request.id("session_id", "session id"))
    return Response(session_read(view))


def read_turns(services: Runtime, request: Request) -> Response:
    """The durable log of a session, oldest first, in pages."""
    page = services.reading.read_log(
        request.principal,
        request.id("session_id", "session id"),
        after=number_position(request.query),
        limit=page_size(request.query),
    )
    return Response(turns_listed(page))


def read_artifact(services: Runtime, request: Request) -> Response:
    """One artifact of the scratch pad."""
    artifact = services.scratch_pads.read(
        request.principal, request.id("session_id", "session id"), request.id("name", "artifact name")
    )
    return Response(artifact_read(artifact))


def put_artifact(services: Runtime, request: Request) -> Response:
    """Put an artifact under its name."""
    body = parsed(ArtifactBody, request.body)
    command = body.command(request.id("session_id", "session id"), request.id("name", "artifact name"))
    return Response(artifact_read(services.scratch_pads.put(request.principal, command)))


def delete_artifact(services: Runtime, request: Request) -> Response:
    """Remove an artifact."""
    services.scratch_pads.delete(request.principal, request.id("session_id", "session id"), request.id("name", "artifact name"))
    return Response(None, status=204)


ROUTES = (
    Route("GET /v1/sessions", list_sessions, query=("limit", "next")),
    Route("GET /v1/sessions/{session_id}", read_session),
    Route("GET /v1/sessions/{session_id}/turns", read_turns, query=("limit", "next")),
    Route("GET /v1/sessions/{session_id}/scratchpad/{name}", read_artifact),
    Route("PUT /v1/sessions/{session_id}/scratchpad/{name}", put_artifact, body=ArtifactBody),
    Route("DELETE /v1/sessions/{session_id}/scratchpad/{name}", delete_artifact, status=204),
)
lambda_handler = http_handler(ROUTES)
