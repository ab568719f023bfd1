"""The entry point of functions that a schedule starts. What fails is raised again without its message, which Lambda would log."""

from collections.abc import Callable, Mapping
from typing import Any

from keepsake.api.observability import observed
from keepsake.bootstrap import Runtime, runtime
from keepsake.domain.errors import KeepsakeError

Event = dict[str, Any]

# Time kept back for the transaction under way when the function's own time runs out.
_RESERVE_MS = 10_000


class RunFailedError(Exception):
    """A run failed; its code is all that is told of it. The schedule's own retries start it again."""


def scheduled_handler(run: Callable[[Runtime, Event, int], Mapping[str, Any]]) -> Callable[[Event, Any], dict[str, Any]]:
    """The Lambda handler of a function that does `run(runtime, event, until_ms)` and answers its counts."""

    def lambda_handler(event: Event, context: Any) -> dict[str, Any]:
        with observed(event) as call:
            try:
                current = runtime()
                until_ms = current.clock.now_ms() + max(0, context.get_remaining_time_in_millis() - _RESERVE_MS)
                report = dict(run(current, event, until_ms))
            except KeepsakeError as error:
                call.refused(error, 503 if error.retryable else 500)
            except Exception as error:  # noqa: BLE001 - the entry point: a message may hold anything
                call.crashed(error)
            else:
                call.counts.update({name: count for name, count in report.items() if isinstance(count, int)})
                call.answered(200)
                return report
        raise RunFailedError(call.code or call.crash)

    return lambda_handler
