"""The research profile: read, edit, reset."""

from keepsake.api.http import Request, Response, Route, http_handler
from keepsake.api.requests import ProfileBody, parsed
from keepsake.api.responses import profile_read
from keepsake.bootstrap import Runtime


def read_profile(services: Runtime, request: Request) -> Response:
    """All that was learned of the caller as a whole."""
    return Response(profile_read(services.profile.read(request.principal)))


def edit_profile(services: Runtime, request: Request) -> Response:
    """What the caller writes in place of what was learned."""
    body = parsed(ProfileBody, request.body)
    return Response(profile_read(services.profile.edit(request.principal, body.edit(), expected_version=body.version)))


def reset_profile(services: Runtime, request: Request) -> Response:
    """Empty the profile; what was said before is not learned again."""
    return Response(profile_read(services.profile.reset(request.principal)))


ROUTES = (
    Route("GET /v1/profile", read_profile),
    Route("PUT /v1/profile", edit_profile, body=ProfileBody),
    Route("POST /v1/profile/reset", reset_profile),
)
lambda_handler = http_handler(ROUTES)
