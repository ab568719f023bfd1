"""POST /v1/audit/verify: follow a user's audit chains and name the first broken entry."""

from keepsake.api.http import Request, Response, Route, http_handler
from keepsake.api.requests import VerifyBody, parsed
from keepsake.api.responses import verified
from keepsake.bootstrap import Runtime
from keepsake.domain.errors import AccessDeniedError
from keepsake.domain.ids import checked_id


def verify(services: Runtime, request: Request) -> Response:
    """Verify one's own chains; an admin may name another user."""
    body = parsed(VerifyBody, request.body or b"{}")
    user_id = request.principal.user_id if body.user_id is None else checked_id(body.user_id, "user id")
    if user_id != request.principal.user_id and not request.principal.is_admin:
        raise AccessDeniedError("only an admin may verify another user's audit")
    found = services.verification.verify(user_id, until_ms=request.until_ms, skip=body.next or 0)
    return Response(verified(found))


ROUTES = (Route("POST /v1/audit/verify", verify, body=VerifyBody),)
lambda_handler = http_handler(ROUTES)
