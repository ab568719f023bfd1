"""Runs the functions that the template feeds from queues, in batches, as Lambda's event source mapping does.

A thread for each queue takes what is sent and sleeps when there is nothing. Messages that failed come again after a while, longer
every time: after seconds, since the half hour of a deployed queue is of no use to somebody who watches. All their times together
outlast the lease of a service that was killed.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import Any, Protocol

from keepsake.adapters.sqlite_queue import QueueCounts, ReceivedMessage
from keepsake.domain.errors import KeepsakeError
from keepsake.ports.surroundings import IdFactory
from keepsake.ports.work_queue import WorkMessage
from local.events import ACCOUNT, REGION, Event, FunctionContext

POLL_S = 1.0  # how late a message may be found whose time has come while nothing was sent
FIRST_DELAY_MS, LONGEST_DELAY_MS = 2_000, 60_000

log = logging.getLogger("keepsake.local")

Handler = Callable[[Event, Any], Any]


class ReceivingQueue(Protocol):
    """Both ends of an embedded queue."""

    def send(self, messages: Sequence[WorkMessage]) -> int:
        """See WorkQueue."""
        ...

    def receive(self, limit: int) -> tuple[ReceivedMessage, ...]:
        """At most `limit` messages, hidden from now on."""
        ...

    def delete(self, receipt: str) -> bool:
        """Remove a message."""
        ...

    def release(self, receipt: str, *, after_ms: int = 0) -> bool:
        """Let a message be received again."""
        ...

    def release_all(self) -> None:
        """Let all messages be received again."""
        ...

    def counts(self) -> QueueCounts:
        """How much is on the queue."""
        ...


@dataclass(frozen=True, slots=True)
class Consumer:
    """A function that a queue feeds. `queue` and `function` are the template's names."""

    queue: str
    function: str
    handler: Handler
    batch_size: int
    timeout_s: float


class QueueRunner:
    """WorkQueue of the local service: what is sent to it, its thread hands to the consuming function."""

    def __init__(self, queue: ReceivingQueue, consumer: Consumer, ids: IdFactory) -> None:
        self._queue = queue
        self._consumer = consumer
        self._ids = ids
        self._sent = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=f"queue {consumer.queue}", daemon=True)

    @property
    def name(self) -> str:
        """The queue's name in the template."""
        return self._consumer.queue

    def send(self, messages: Sequence[WorkMessage]) -> int:
        """See WorkQueue."""
        taken = self._queue.send(messages)
        self._sent.set()
        return taken

    def start(self) -> None:
        """Begin to take messages, those first that an earlier service had under way when it ended."""
        self._queue.release_all()
        self._thread.start()

    def stop(self) -> None:
        """Take no more; a batch that is under way is waited for, within reason. What it leaves comes at the next start."""
        self._stopping.set()
        self._sent.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def counts(self) -> QueueCounts:
        """How much is on the queue now. Raises QueueUnavailableError."""
        return self._queue.counts()

    def drain(self, limit_s: float) -> QueueCounts:
        """Help until nothing waits and nothing is under way, for `limit_s` seconds at most; what is on the queue then.

        Messages that fail are tried again until they succeed or are set aside.
        """
        until = time.monotonic() + limit_s
        while not self._stopping.is_set() and time.monotonic() < until:
            if self._step():
                continue
            counts = self._queue.counts()
            if counts.waiting + counts.in_flight == 0:
                break
            self._stopping.wait(0.05)
        return self._queue.counts()

    def _watch(self) -> None:
        while not self._stopping.is_set():
            self._sent.clear()
            try:
                while not self._stopping.is_set() and self._step():
                    pass
            except KeepsakeError as error:
                log.error("the queue %s failed: %s", self._consumer.queue, error.code)  # noqa: TRY400 - the kind of failure only
                self._stopping.wait(POLL_S)
            self._sent.wait(POLL_S)

    def _step(self) -> bool:
        """Take one batch and have it dealt with. False when there is nothing to take."""
        batch = self._queue.receive(self._consumer.batch_size)
        if batch:
            failed = self._failed(batch)
            for message in batch:
                if message.message_id in failed:
                    self._queue.release(message.receipt, after_ms=_delay(message.received_count))
                else:
                    self._queue.delete(message.receipt)
        return bool(batch)

    def _failed(self, batch: Sequence[ReceivedMessage]) -> frozenset[str]:
        """Ids of the messages that the function did not deal with."""
        everything = frozenset([message.message_id for message in batch])
        context = FunctionContext(self._consumer.function, self._ids.new(), timeout_s=self._consumer.timeout_s)
        try:
            answer = self._consumer.handler(sqs_event(batch, self._consumer.queue), context)
        except Exception as error:  # noqa: BLE001 - an entry point: a failed batch must not end the service
            log.error("%s failed: %s", self._consumer.function, type(error).__name__)  # noqa: TRY400 - a traceback may hold words
            return everything
        failed = failures_in(answer, everything)
        if failed:
            log.error("%s did not do %d of %d messages; they come again", self._consumer.function, len(failed), len(everything))
        return failed


def failures_in(answer: object, everything: frozenset[str]) -> frozenset[str]:
    """The messages that an answer calls failed. One that Lambda could not read is, as there, a failure of the whole batch."""
    if not answer:
        return frozenset()
    listed = answer.get("batchItemFailures") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return frozenset() if isinstance(answer, dict) and listed is None else everything
    named = frozenset([str(each.get("itemIdentifier")) if isinstance(each, dict) else "" for each in listed])
    return named if named.issubset(everything) else everything


def sqs_event(batch: Sequence[ReceivedMessage], queue: str) -> Event:
    """The event with which Lambda hands a batch of a FIFO queue to a function."""
    return {"Records": [_record(message, queue) for message in batch]}


def _record(message: ReceivedMessage, queue: str) -> Event:
    return {
        "messageId": message.message_id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": str(message.received_count),
            "SentTimestamp": str(message.sent_ms),
            "SequenceNumber": f"{message.sequence:020}",
            "MessageGroupId": message.group,
            "SenderId": ACCOUNT,
            "MessageDeduplicationId": message.deduplication,
            "ApproximateFirstReceiveTimestamp": str(message.first_received_ms),
        },
        "messageAttributes": {},
        "md5OfBody": md5(message.body.encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}.fifo",
        "awsRegion": REGION,
    }


def _delay(received_count: int) -> int:
    return int(min(FIRST_DELAY_MS * 2 ** (received_count - 1), LONGEST_DELAY_MS))
