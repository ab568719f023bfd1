"""Cross-origin rules as an HTTP API keeps them: it answers preflights itself, and its word replaces a function's."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from local.answers import Answer
from local.events import Request
from local.folder import LocalError
from local.template import Node, resources

# As a browser writes an origin: no path, not even a slash. A page from a file has the origin `null`.
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#@,*]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Cors:
    """The API's CORS configuration. Without origins, no page may call."""

    origins: Sequence[str] = ()
    methods: Sequence[str] = ()
    headers: Sequence[str] = ()
    exposed: Sequence[str] = ()
    max_age_s: int = 0

    def preflight(self, request: Request) -> Answer | None:
        """The answer to a preflight; None when the request is none. An origin that may not call gets no word of permission."""
        wanted = request.header("access-control-request-method")
        if request.method != "OPTIONS" or wanted is None or request.header("origin") is None:
            return None
        permission = {
            "access-control-allow-methods": ",".join(self.methods),
            "access-control-allow-headers": ",".join(self.headers),
            "access-control-max-age": str(self.max_age_s),
        }
        return Answer(204).with_headers(permission if self._allowed(request) and wanted in self.methods else {})

    def applied(self, request: Request, answer: Answer) -> Answer:
        """The answer with what the browser must know, and without what a function said of it."""
        kept = Answer(answer.status, answer.body, tuple(pair for pair in answer.headers if not _function_word(pair[0], request)))
        return kept.with_headers(self._told(request))

    def _told(self, request: Request) -> Mapping[str, str]:
        origin = request.header("origin")
        if origin is None or not self._allowed(request):
            return {}
        told = {"access-control-allow-origin": "*" if "*" in self.origins else origin, "vary": "Origin"}
        if self.exposed:
            told["access-control-expose-headers"] = ",".join(self.exposed)
        return told

    def _allowed(self, request: Request) -> bool:
        return "*" in self.origins or request.header("origin") in self.origins


def checked_origin(text: str) -> str:
    """An origin as browsers write it, or `*` for all. Raises LocalError for what no browser would ever send."""
    origin = text.strip().lower()
    if origin not in ("*", "null") and not _ORIGIN.fullmatch(origin):
        raise LocalError("--cors-origin is a page's scheme, host and port, without a path, such as http://localhost:5173")
    return origin


def cors_of(template: Node, origins: Sequence[str]) -> Cors:
    """What the template's API allows, to these origins: which ones is a parameter when it is deployed, and so it is here."""
    for _, api in resources(template, "AWS::Serverless::HttpApi"):
        told = api["Properties"].get("CorsConfiguration", {})
        return Cors(
            origins=tuple(origins),
            methods=tuple(told.get("AllowMethods", ())),
            headers=tuple(told.get("AllowHeaders", ())),
            exposed=tuple(told.get("ExposeHeaders", ())),
            max_age_s=int(told.get("MaxAge", 0)),
        )
    return Cors()


def _function_word(name: str, request: Request) -> bool:
    return name.startswith("access-control-") and request.method != "OPTIONS"
