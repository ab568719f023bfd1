"""Finding the route of a request as an HTTP API does: the decoded path, cut at every slash, one segment against one segment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from local.template import Route


@dataclass(frozen=True, slots=True)
class Match:
    """A route and what the path says of its parameters."""

    route: Route
    parameters: Mapping[str, str]

    @property
    def route_key(self) -> str:
        """The route as the template writes it; safe to log, as the path is not."""
        return f"{self.route.method} {self.route.path}"


class RouteTable:
    """The template's routes, the most definite first."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes = sorted(
            ((route, tuple(route.path.split("/"))) for route in routes),
            key=lambda pair: [_parameter(segment) is not None for segment in pair[1]],
        )

    def find(self, method: str, path: str) -> Match | None:
        """The route for a decoded path, or None. A parameter is never empty and never spans a slash."""
        segments = path.split("/")
        for route, pattern in self._routes:
            if route.method != method or len(pattern) != len(segments):
                continue
            parameters = _fit(pattern, segments)
            if parameters is not None:
                return Match(route, parameters)
        return None


def _fit(pattern: Iterable[str], segments: Iterable[str]) -> Mapping[str, str] | None:
    parameters: dict[str, str] = {}
    for expected, segment in zip(pattern, segments, strict=True):
        name = _parameter(expected)
        if name is None:
            if segment != expected:
                return None
        elif not segment:
            return None
        else:
            parameters[name] = segment
    return parameters


def _parameter(segment: str) -> str | None:
    return segment[1:-1] if segment.startswith("{") and segment.endswith("}") else None
