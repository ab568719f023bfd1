"""GET /v1/health: alive; with ?deep=true also whether each dependency is."""

from keepsake.api.http import Request, Response, Route, http_handler
from keepsake.bootstrap import Runtime
from keepsake.config import VERSION
from keepsake.domain.errors import InvalidRequestError


def health(services: Runtime, request: Request) -> Response:
    """Whether the service is alive; with `deep=true` also each dependency, and 503 when one does not do its part."""
    depth = request.query.get("deep", "false")
    if depth not in ("true", "false"):
        raise InvalidRequestError("deep is true or false", fields=(("deep", "not true or false"),))
    if depth == "false":
        return Response({"status": "ok", "version": VERSION})
    found = services.health.dependencies()
    ok = all(dependency.ok for dependency in found)
    dependencies = [{"name": each.name, "ok": each.ok, "detail": each.detail} for each in found]
    return Response(
        {"status": "ok" if ok else "degraded", "version": VERSION, "dependencies": dependencies}, status=200 if ok else 503
    )


ROUTES = (Route("GET /v1/health", health, query=("deep",), is_open=True),)
lambda_handler = http_handler(ROUTES)
