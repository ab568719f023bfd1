"""For admins: fill a new index, and see how far that is; compare what the index holds of a user with what it should."""

from keepsake.api.http import Request, Response, Route, http_handler
from keepsake.api.memory_requests import DriftBody, ReindexBody
from keepsake.api.memory_responses import drift_read, job_read
from keepsake.api.requests import parsed
from keepsake.bootstrap import Runtime


def start_reindex(services: Runtime, request: Request) -> Response:
    """Fill a new index of the embedding model that is set; reads go on meanwhile."""
    parsed(ReindexBody, request.body or b"{}")
    return Response(job_read(services.learning.reindexing.start(request.principal)), status=202)


def read_reindex(services: Runtime, request: Request) -> Response:
    """How far a reindex is."""
    return Response(job_read(services.learning.reindexing.read(request.principal, request.id("job_id", "job id"))))


def check_drift(services: Runtime, request: Request) -> Response:
    """Count what a user's index lacks and holds too much of; repair it when asked to."""
    body = parsed(DriftBody, request.body or b"{}")
    return Response(drift_read(services.learning.drift.ask(request.principal, body.owner(), repair=body.repair)))


ROUTES = (
    Route("POST /v1/admin/reindex", start_reindex, body=ReindexBody, status=202),
    Route("GET /v1/admin/reindex/{job_id}", read_reindex),
    Route("POST /v1/admin/drift", check_drift, body=DriftBody),
)
lambda_handler = http_handler(ROUTES)
