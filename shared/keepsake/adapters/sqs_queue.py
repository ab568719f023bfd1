"""The work queue on SQS: a FIFO queue, filled in batches of ten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from botocore.config import Config

from keepsake.adapters.aws_clients import make_service_client
from keepsake.adapters.aws_errors import aws_errors_mapped
from keepsake.domain.errors import QueueUnavailableError, StoreError
from keepsake.ports.work_queue import WorkMessage, body_of

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from keepsake.ports.surroundings import Chance, Clock

_BATCH = 10  # SQS's limit
_ATTEMPTS = 3
_FIRST_WAIT = 0.1  # seconds, doubled every time, before jitter

Entries = Mapping[str, WorkMessage]  # by their ids within one batch, in order


def make_queue_client(*, region: str | None = None, endpoint: str | None = None) -> SQSClient:
    """A client whose timeouts and retries are set, not inherited: an unreachable queue costs 4 seconds, a mute one 10.

    `region` and `endpoint` default to what the environment says.
    """
    config = Config(
        connect_timeout=1,
        read_timeout=3,
        retries={"mode": "standard", "total_max_attempts": 3},
        tcp_keepalive=True,
        parameter_validation=False,  # requests are built here, from values that were checked
    )
    client: SQSClient = make_service_client("sqs", region=region, endpoint=endpoint, config=config)
    return client


class SqsWorkQueue:
    """WorkQueue on one FIFO queue."""

    def __init__(self, client: SQSClient, url: str, *, clock: Clock, chance: Chance) -> None:
        self._client = client
        self._url = url
        self._clock = clock
        self._chance = chance

    def send(self, messages: Sequence[WorkMessage]) -> int:
        """See WorkQueue."""
        taken = 0
        for start in range(0, len(messages), _BATCH):
            batch = messages[start : start + _BATCH]
            try:
                taken += self._send_batch({str(place): message for place, message in enumerate(batch)})
            except QueueUnavailableError:
                if taken:
                    break
                raise
        if messages and not taken:
            raise QueueUnavailableError("the queue took no message")
        return taken

    def _send_batch(self, batch: Entries) -> int:
        """How many of at most ten were taken. What SQS failed to take is sent again, a bounded number of times."""
        pending = dict(batch)
        taken: set[str] = set()
        for attempt in range(_ATTEMPTS):
            if attempt:
                self._clock.sleep(_FIRST_WAIT * 2 ** (attempt - 1) * self._chance.fraction())
            try:
                accepted, refused = self._call(pending)
            except QueueUnavailableError:
                if taken:
                    break
                raise
            taken |= accepted
            pending = _in_order({name: pending[name] for name in pending if name not in accepted | refused}, batch, taken)
            if not pending:
                break
        return len(taken)

    def _call(self, entries: Entries) -> tuple[set[str], set[str]]:
        """Ids of the entries that were taken, and of those that never will be."""
        with _errors_mapped():
            answer = self._client.send_message_batch(
                QueueUrl=self._url,
                Entries=[
                    {
                        "Id": name,
                        "MessageBody": body_of(message),
                        "MessageGroupId": message.group,
                        "MessageDeduplicationId": message.deduplication,
                    }
                    for name, message in entries.items()
                ],
            )
            accepted = {entry["Id"] for entry in _listed(answer, "Successful")}
            refused = {entry["Id"] for entry in _listed(answer, "Failed") if entry.get("SenderFault")}
        return accepted & set(entries), refused


def _in_order(failed: Entries, batch: Entries, taken: set[str]) -> dict[str, WorkMessage]:
    """Of the entries that failed, those whose group has no later one on the queue: the others would come out of order.

    They are left to the planner.
    """
    last = {batch[name].group: int(name) for name in sorted(taken, key=int)}
    return {name: message for name, message in failed.items() if int(name) > last.get(message.group, -1)}


def _listed(answer: Mapping[str, Any], part: str) -> Sequence[Mapping[str, Any]]:
    found = answer.get(part, [])
    if "Successful" not in answer and "Failed" not in answer:  # a page of a proxy's reads as an empty answer
        raise QueueUnavailableError("SendMessageBatch was not answered by SQS")
    return found if isinstance(found, list) else []


@contextmanager
def _errors_mapped() -> Iterator[None]:
    try:
        with aws_errors_mapped("SendMessageBatch"):
            yield
    except StoreError as error:
        raise QueueUnavailableError(error.detail) from None
