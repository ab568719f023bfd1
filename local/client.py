"""A small client of the HTTP API: ids travel as the API wants them, and what may be repeated is repeated."""

import base64
import json
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3

from local.folder import FOREIGN_KEY, LocalError

Json = dict[str, Any]

REPEATED = frozenset({409, 429, 503})
DEFAULT_URL = "http://127.0.0.1:3000"
CONNECT_S = 3.0
READ_S = 35.0  # the gateway waits 30 s for a function
TICK_READ_S = 1_560.0  # as long as a tick helps the queues, and a schedule runs before
QUICK_READ_S = 5.0  # for what needs no store
PLAIN_ID = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)


class NoServiceError(Exception):
    """Nothing answers at the address, also after the repeats that were asked for. The message is one line for a person."""

    def __init__(self, url: str) -> None:
        super().__init__(f"no service answers at {url}: start one with `python -m local serve`, or name it with --url")


class SilentServiceError(NoServiceError):
    """Something took the call and did not answer it in time. It is not repeated: it may still be at work."""

    def __init__(self, url: str, waited_s: float) -> None:
        Exception.__init__(
            self,
            f"{url} took the call but did not answer it in {waited_s:.0f} s: "
            "see whether it is Keepsake's service and what holds it up, or name another one with --url",
        )


def service_url(text: str) -> str:
    """The address of a service as calls need it: without a slash or the API's version at its end. Raises LocalError."""
    address = text.strip().rstrip("/").removesuffix("/v1").rstrip("/")
    try:
        parts = urlsplit(address)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        right = False
    if not right or parts.query or parts.fragment or re.search(r"\s", address):
        raise LocalError("--url is the address of a service, such as http://127.0.0.1:3000")
    return address


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

    def recognised(self) -> "Reply":
        """Itself. Raises LocalError when it is not from the service of our data folder, or from no local service at all."""
        if "x-keepsake-calls" not in self.headers:
            raise LocalError("what answers there is not Keepsake's local service: name the service with --url")
        if self.status == 401:
            raise LocalError(FOREIGN_KEY)
        return self

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
    def reason(self) -> str:
        """What the problem document says of the refusal, and of which fields; empty when there is none."""
        try:
            problem = self.json
        except ValueError:
            return ""
        fields = problem.get("fields")
        named = [f"{each.get('field')}: {each.get('problem')}" for each in fields or () if isinstance(each, dict)]
        return "; ".join([str(problem.get("detail", "")), *named]).strip("; ")

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
    read_s: float = READ_S
    pool: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(maxsize=40, retries=False))

    def as_user(self, token: str) -> "Client":
        """The same service, another user."""
        return replace(self, token=token)

    def patient(self, read_s: float) -> "Client":
        """The same, waiting for `read_s` seconds for an answer."""
        return replace(self, read_s=read_s)

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | bytes | None = None,
        *,
        query: Mapping[str, object] | None = None,
    ) -> Reply:
        """One call, repeated as often as this client may. Raises NoServiceError, of which SilentServiceError is one."""
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        target = f"{self.url}{path}?{urlencode(query)}" if query else f"{self.url}{path}"
        for attempt in range(self.repeats + 1):
            last = attempt == self.repeats
            try:
                reply = self._once(method, target, content)
            except urllib3.exceptions.ReadTimeoutError:
                raise SilentServiceError(self.url, self.read_s) from None
            except urllib3.exceptions.HTTPError:
                if last:
                    raise NoServiceError(self.url) from None
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

    def list_memories(self, **query: object) -> Reply:
        """A page of what is known of the user."""
        return self.call("GET", "/v1/memories", query=query)

    def tell_memory(self, memory: Mapping[str, object]) -> Reply:
        """Have something remembered."""
        return self.call("POST", "/v1/memories", memory)

    def get_memory(self, memory_id: str) -> Reply:
        """One memory."""
        return self.call("GET", _memory(memory_id))

    def get_history(self, memory_id: str) -> Reply:
        """All that was ever held of the same thing."""
        return self.call("GET", f"{_memory(memory_id)}/history")

    def correct_memory(self, memory_id: str, correction: Mapping[str, object]) -> Reply:
        """Say what is right instead."""
        return self.call("PATCH", _memory(memory_id), correction)

    def confirm_memory(self, memory_id: str, *, confirmed: bool) -> Reply:
        """Say whether it is so."""
        return self.call("POST", f"{_memory(memory_id)}/confirm", {"confirmed": confirmed})

    def forget_memory(self, memory_id: str) -> Reply:
        """Have it forgotten."""
        return self.call("DELETE", _memory(memory_id))

    def recall(self, query: str, **more: object) -> Reply:
        """Search the user's past."""
        return self.call("POST", "/v1/recall", {"query": query, **more})

    def put_document(self, document: Mapping[str, object]) -> Reply:
        """Keep a knowledge document."""
        return self.call("POST", "/v1/documents", document)

    def get_document(self, document_id: str) -> Reply:
        """A knowledge document with its text."""
        return self.call("GET", f"/v1/documents/{path_id(document_id)}")

    def delete_document(self, document_id: str) -> Reply:
        """Remove a knowledge document."""
        return self.call("DELETE", f"/v1/documents/{path_id(document_id)}")

    def start_reindex(self) -> Reply:
        """For admins: have a new index filled."""
        return self.call("POST", "/v1/admin/reindex", {})

    def get_reindex(self, job_id: str) -> Reply:
        """For admins: how far that is."""
        return self.call("GET", f"/v1/admin/reindex/{path_id(job_id)}")

    def check_drift(self, user_id: str, *, repair: bool = False) -> Reply:
        """For admins: what the index holds of a user beside what it should."""
        return self.call("POST", "/v1/admin/drift", {"user_id": user_id, "repair": repair})

    def verify_audit(self, body: Mapping[str, object] | None = None) -> Reply:
        """Have the user's audit chains verified."""
        return self.call("POST", "/v1/audit/verify", body or {})

    def health(self) -> Reply:
        """Whether the service is alive."""
        return self.patient(QUICK_READ_S).call("GET", "/v1/health")

    def _once(self, method: str, target: str, content: bytes | None) -> Reply:
        headers = {"content-type": "application/json"} if content is not None else {}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        timeout = urllib3.Timeout(connect=CONNECT_S, read=self.read_s)
        response = self.pool.request(method, target, body=content, headers=headers, timeout=timeout, redirect=False)
        return Reply(response.status, {name.lower(): value for name, value in response.headers.items()}, response.data)


def _artifact(session_id: str, name: str) -> str:
    return f"/v1/sessions/{path_id(session_id)}/scratchpad/{path_id(name)}"


def _memory(memory_id: str) -> str:
    return f"/v1/memories/{path_id(memory_id)}"


def _wait(attempt: int, seconds: float) -> None:
    """Full jitter around what was asked, growing a little: callers that lost one race must not meet in the next."""
    time.sleep(seconds * random.uniform(0.1, min(2.0, 1.0 + attempt / 4)))  # noqa: S311 - jitter need not be secret
