"""A small client of the HTTP API: ids travel as the API wants them, and what may be repeated is repeated."""

import base64
import json
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import urllib3

Json = dict[str, Any]

REPEATED = frozenset({409, 429, 503})
PLAIN_ID = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)


class NoServiceError(Exception):
    """Nothing answers at the address, also after the repeats that were asked for."""


def path_id(value: str) -> str:
    """An id as it stands in a path: itself where it is plain, else `~` and base64url of its UTF-8."""
    if PLAIN_ID.fullmatch(value) and value not in (".", ".."):
        return value
    return "~" + base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class Reply:
    """What the API answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether it is a 2xx."""
        return 200 <= self.status < 300

    @property
    def json(self) -> Json:
        """The body as a JSON object, empty when it is other JSON. Raises ValueError when it is none."""
        content = json.loads(self.body)
        return content if isinstance(content, dict) else {}

    @property
    def code(self) -> str:
        """The problem document's code, empty when there is none."""
        try:
            return str(self.json.get("code", ""))
        except ValueError:
            return ""

    @property
    def retry_after_s(self) -> float | None:
        """Seconds to wait before the same call, None when it is not to be repeated."""
        told = self.headers.get("retry-after", "")
        return float(told) if self.status in REPEATED and told.isdecimal() else None


@dataclass(frozen=True, slots=True)
class Client:
    """Calls one service with one user's token. Safe to use from several threads."""

    url: str
    token: str = ""
    repeats: int = 0  # of what the service asks to repeat, and of calls that found no service
    timeout_s: float = 60.0
    pool: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(maxsize=40, retries=False))

    def as_user(self, token: str) -> "Client":
        """The same service, another user."""
        return Client(self.url, token, self.repeats, self.timeout_s, self.pool)

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | bytes | None = None,
        *,
        query: Mapping[str, object] | None = None,
    ) -> Reply:
        """One call, repeated as often as this client may. Raises NoServiceError."""
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        target = f"{self.url}{path}?{urlencode(query)}" if query else f"{self.url}{path}"
        for attempt in range(self.repeats + 1):
            last = attempt == self.repeats
            try:
                reply = self._once(method, target, content)
            except urllib3.exceptions.HTTPError as error:
                if last:
                    raise NoServiceError(type(error).__name__) from None
                _wait(attempt, 0.2)
                continue
            if last or reply.retry_after_s is None:
                return reply
            _wait(attempt, reply.retry_after_s)
        raise AssertionError("the last attempt returns or raises")

    def post_turn(self, session_id: str, turn: Mapping[str, object]) -> Reply:
        """Take a turn."""
        return self.call("POST", f"/v1/sessions/{path_id(session_id)}/turns", turn)

    def get_session(self, session_id: str) -> Reply:
        """The live buffer."""
        return self.call("GET", f"/v1/sessions/{path_id(session_id)}")

    def list_sessions(self, **query: object) -> Reply:
        """A page of the user's sessions."""
        return self.call("GET", "/v1/sessions", query=query)

    def get_turns(self, session_id: str, **query: object) -> Reply:
        """A page of the session's log."""
        return self.call("GET", f"/v1/sessions/{path_id(session_id)}/turns", query=query)

    def all_turns(self, session_id: str, *, limit: int = 100) -> list[Json]:
        """The session's whole log, page after page. Raises ValueError when a page is refused."""
        turns: list[Json] = []
        query: dict[str, object] = {"limit": limit}
        while True:
            reply = self.get_turns(session_id, **query)
            if not reply.ok:
                raise ValueError(f"a page of the log was refused: {reply.status} {reply.code}")
            page = reply.json
            turns.extend(page["turns"])
            if not page.get("next"):
                return turns
            query["next"] = page["next"]

    def put_artifact(self, session_id: str, name: str, artifact: Mapping[str, object]) -> Reply:
        """Write an artifact of the scratch pad."""
        return self.call("PUT", _artifact(session_id, name), artifact)

    def get_artifact(self, session_id: str, name: str) -> Reply:
        """Read an artifact of the scratch pad."""
        return self.call("GET", _artifact(session_id, name))

    def delete_artifact(self, session_id: str, name: str) -> Reply:
        """Remove an artifact of the scratch pad."""
        return self.call("DELETE", _artifact(session_id, name))

    def get_profile(self) -> Reply:
        """The research profile."""
        return self.call("GET", "/v1/profile")

    def verify_audit(self, body: Mapping[str, object] | None = None) -> Reply:
        """Have the user's audit chains verified."""
        return self.call("POST", "/v1/audit/verify", body or {})

    def health(self) -> Reply:
        """Whether the service is alive."""
        return self.call("GET", "/v1/health")

    def _once(self, method: str, target: str, content: bytes | None) -> Reply:
        headers = {"content-type": "application/json"} if content is not None else {}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        response = self.pool.request(method, target, body=content, headers=headers, timeout=self.timeout_s, redirect=False)
        return Reply(response.status, {name.lower(): value for name, value in response.headers.items()}, response.data)


def _artifact(session_id: str, name: str) -> str:
    return f"/v1/sessions/{path_id(session_id)}/scratchpad/{path_id(name)}"


def _wait(attempt: int, seconds: float) -> None:
    """Full jitter around what was asked, growing a little: callers that lost one race must not meet in the next."""
    time.sleep(seconds * random.uniform(0.1, min(2.0, 1.0 + attempt / 4)))  # noqa: S311 - jitter need not be secret
