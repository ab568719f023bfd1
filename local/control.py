"""The machine's own endpoints under `/local/`: run the schedules now, see what the queues hold, put the clock forward.

Only for a control token of the service's own data folder.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from keepsake.domain.errors import IndexUnavailableError, KeepsakeError, QueueUnavailableError, StoreUnavailableError
from local.answers import Answer, json_answer, problem
from local.clock import ShiftedClock
from local.events import Request
from local.folder import LocalError
from local.schedules import PASSING, FailedRunError, Scheduler
from local.tokens import CONTROL_AUDIENCE, BadTokenError, TokenIssuer


@dataclass(frozen=True, slots=True)
class Control:
    """Serves `/local/tick`, `/local/queues` and `/local/clock`."""

    issuer: TokenIssuer
    clock: ShiftedClock
    scheduler: Scheduler

    def __call__(self, request: Request, body: bytes) -> Answer:
        """Serve one request."""
        if not self._may(request):
            return _refusal(request, 401, "unauthenticated", "This needs a control token of the service's data folder.")
        match (request.method, request.path):
            case ("POST", "/local/tick"):
                return self._tick(request, body)
            case ("GET", "/local/queues"):
                return self._queues(request)
            case ("GET", "/local/clock"):
                return self._time()
            case ("POST", "/local/clock"):
                return self._advance(request, body)
        return _refusal(request, 404, "not_found", "There is no such route.")

    def _may(self, request: Request) -> bool:
        scheme, _, token = (request.header("authorization") or "").partition(" ")
        try:
            self.issuer.verify(token, CONTROL_AUDIENCE)
        except BadTokenError:
            return False
        return scheme.lower() == "bearer"

    def _tick(self, request: Request, body: bytes) -> Answer:
        wish = _field(body, "run")
        if wish != "all" and wish not in self.scheduler.names:
            return _refusal(request, 400, "invalid_request", f"`run` is one of: {', '.join((*self.scheduler.names, 'all'))}.")
        try:
            return json_answer(self.scheduler.tick(self.scheduler.names if wish == "all" else (str(wish),)))
        except FailedRunError as failure:
            return _failed(request, failure)

    def _queues(self, request: Request) -> Answer:
        try:
            return json_answer(self.scheduler.queues())
        except KeepsakeError as error:
            return _refusal(request, 503, error.code, error.detail)

    def _advance(self, request: Request, body: bytes) -> Answer:
        seconds = _field(body, "advance_seconds")
        if not isinstance(seconds, int):
            return _refusal(request, 400, "invalid_request", "`advance_seconds` is a whole number.")
        try:
            self.clock.advance(seconds)
        except LocalError as refused:
            return _refusal(request, 400, "invalid_request", str(refused))
        return self._time()

    def _time(self) -> Answer:
        now = datetime.fromtimestamp(self.clock.now_ms() // 1000, UTC)
        return json_answer({"now": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "ahead_seconds": self.clock.shift_s})


_SILENT = {
    StoreUnavailableError.code: "store",
    IndexUnavailableError.code: "search index",
    QueueUnavailableError.code: "queue",
}


def _failed(request: Request, failure: FailedRunError) -> Answer:
    if failure.code not in PASSING:
        return _refusal(request, 500, "schedule_failed", str(failure))
    what = _SILENT.get(failure.code)
    mending = f"see that the {what} runs, then " if what else ""
    why = "others were writing the same" if what is None else f"the {what} does not answer"
    left = f"What it did not do is left for its next run: {mending}tick again."
    return _refusal(request, 503, failure.code, f"{failure.name} stopped, since {why}. {left}")


def _field(body: bytes, name: str) -> object:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return content.get(name) if isinstance(content, dict) else None


def _refusal(request: Request, status: int, code: str, detail: str) -> Answer:
    return problem(status, code, detail, correlation_id=request.request_id)
