"""The entry point of functions that a FIFO queue feeds: a message is a piece of work; those that fail are named and come again.

A loop of our own: Powertools' batch processor puts exceptions' texts into its debug log and into the error it raises, knows no
limit of time, and takes 80 ms to load.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from keepsake.api.observability import Observed, logger, observed
from keepsake.bootstrap import Runtime, runtime
from keepsake.domain.errors import KeepsakeError
from keepsake.ports.work_queue import ref_of

Event = dict[str, Any]
Record = Mapping[str, Any]

# Time kept back for the transaction under way when the function's own time runs out.
_RESERVE_MS = 10_000
# With less than this left no further message is begun: it would only come one delivery closer to being given up.
_LEAST_MS = 30_000

UNKNOWN_MESSAGE = "unknown_message"


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One delivery of a message. `received_count` is 1 at the first, and may be too low: deliveries are counted loosely."""

    ref: str
    group: str
    received_count: int
    sent_ms: int


Work = Callable[[Runtime, WorkItem, int], Mapping[str, int]]


def queued_handler(work: Work) -> Callable[[Event, Any], dict[str, Any]]:
    """The Lambda handler of a function that does `work(runtime, item, until_ms)` for each message and answers its counts.

    A message fails when `work` raises, or when it is of another version than ours. Those of its group that follow are not begun,
    since they must not overtake it; those of other groups are, while there is time.
    """
    route = f"queue {work.__name__}"

    def lambda_handler(event: Event, context: Any) -> dict[str, Any]:
        records: list[Record] = event["Records"]
        failed: list[str] = []
        stopped: set[str] = set()
        postponed = 0
        for begun, record in enumerate(records):
            remaining_ms = context.get_remaining_time_in_millis()
            if _group(record) in stopped or (begun and remaining_ms < _LEAST_MS):
                postponed += 1
            elif _done(work, route, record, remaining_ms):
                continue
            failed.append(record["messageId"])
            stopped.add(_group(record))
        if failed:
            logger.info("batch", extra={"route": route, "messages": len(records), "failed": len(failed), "postponed": postponed})
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}

    return lambda_handler


def _done(work: Work, route: str, record: Record, remaining_ms: int) -> bool:
    with observed({"source": route, "id": record["messageId"]}) as call:
        ref = ref_of(record["body"])
        if ref is None:
            call.status, call.code = 500, UNKNOWN_MESSAGE
            return False
        return _worked(work, call, _item(ref, record), remaining_ms)


def _worked(work: Work, call: Observed, item: WorkItem, remaining_ms: int) -> bool:
    call.counts["received"] = item.received_count
    try:
        current = runtime()
        until_ms = current.clock.now_ms() + max(0, remaining_ms - _RESERVE_MS)
        call.counts.update(work(current, item, until_ms))
    except KeepsakeError as error:
        call.refused(error, 503 if error.retryable else 500)
        return False
    except Exception as error:  # noqa: BLE001 - the entry point: a message may hold anything
        call.crashed(error)
        return False
    call.answered(200)
    return True


def _item(ref: str, record: Record) -> WorkItem:
    attributes = record["attributes"]
    return WorkItem(
        ref=ref,
        group=_group(record),
        received_count=int(attributes["ApproximateReceiveCount"]),
        sent_ms=int(attributes["SentTimestamp"]),
    )


def _group(record: Record) -> str:
    return str(record["attributes"]["MessageGroupId"])
