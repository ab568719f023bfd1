from __future__ import annotations

import json
import logging
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from keepsake.adapters.sqlite_queue import QueueRules
from keepsake.domain.errors import QueueUnavailableError
from keepsake.ports.work_queue import WorkMessage
from local.queues import Consumer, QueueRunner, failures_in, sqs_event
from tests.fakes import FakeClock, FakeIds
from tests.fakes_queue import FakeWorkQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def message(ref: str, group: str = "g") -> WorkMessage:
    return WorkMessage(ref=ref, group=group, deduplication=f"d.{ref}")


class TickingClock(FakeClock):
    """A fake clock that runs, sixty times as fast as a real one."""

    def now_ms(self) -> int:
        return self.ms + int(time.monotonic() * 60_000)


class Function:
    """A consuming function: remembers its batches, fails the references that it is told to fail."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.failing: set[str] = set()
        self.contexts: list[Any] = []
        self.done = threading.Event()

    def __call__(self, event: Any, context: Any) -> object:
        refs = {record["messageId"]: json.loads(record["body"])["ref"] for record in event["Records"]}
        self.batches.append(list(refs.values()))
        self.contexts.append(context)
        if "crash" in refs.values():
            raise RuntimeError("canary")
        self.done.set()
        return {"batchItemFailures": [{"itemIdentifier": key} for key, ref in refs.items() if ref in self.failing]}


@pytest.fixture
def function() -> Function:
    return Function()


@pytest.fixture
def queue() -> FakeWorkQueue:
    return FakeWorkQueue(TickingClock(), QueueRules(visibility_ms=60_000_000, max_receives=3))


@pytest.fixture
def runner(queue: FakeWorkQueue, function: Function) -> Iterator[QueueRunner]:
    made = QueueRunner(queue, Consumer("WorkQueue", "WorkFunction", function, batch_size=2, timeout_s=300), FakeIds())
    yield made
    made.stop()


def eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.005)


def test_a_drained_queue_was_handed_over_in_batches_and_is_empty(runner: QueueRunner, function: Function) -> None:
    assert runner.send([message(ref) for ref in "abc"]) == 3
    assert runner.drain(5) == (0, 0, 0)
    assert function.batches == [["a", "b"], ["c"]]
    assert {(context.function_name, 0 < context.get_remaining_time_in_millis() <= 300_000) for context in function.contexts} == {
        ("WorkFunction", True)
    }


def test_only_what_failed_comes_again_and_is_set_aside_at_last(runner: QueueRunner, function: Function) -> None:
    function.failing = {"b"}
    runner.send([message(ref, ref) for ref in "ab"])
    assert runner.drain(5) == (0, 0, 1)
    assert function.batches == [["a", "b"], ["b"], ["b"]]


def test_a_crash_fails_the_whole_batch_and_is_told_by_its_kind(
    runner: QueueRunner, function: Function, caplog: pytest.LogCaptureFixture
) -> None:
    runner.send([message("a", "1"), message("crash", "2")])
    with caplog.at_level(logging.ERROR, "keepsake.local"):
        assert runner.drain(5) == (0, 0, 2)
    assert function.batches == [["a", "crash"]] * 3
    assert caplog.messages == ["WorkFunction failed: RuntimeError"] * 3
    assert "canary" not in caplog.text


def test_a_drain_ends_when_its_time_is_over_though_not_all_is_done(queue: FakeWorkQueue, runner: QueueRunner) -> None:
    runner.send([message("a")])
    assert len(queue.receive(1)) == 1  # somebody else holds it
    began = time.monotonic()
    assert runner.drain(0.1) == (0, 1, 0)
    assert time.monotonic() - began < 3


def test_a_started_runner_takes_what_is_sent_at_once_and_nothing_after_it_was_stopped(
    runner: QueueRunner, function: Function, queue: FakeWorkQueue
) -> None:
    runner.start()
    began = time.monotonic()
    runner.send([message("a")])
    assert function.done.wait(5)
    assert time.monotonic() - began < 0.9  # woken, not polled
    eventually(lambda: queue.counts() == (0, 0, 0))
    runner.stop()
    runner.send([message("b")])
    assert runner.drain(1) == (1, 0, 0)


def test_what_an_earlier_service_had_under_way_is_taken_at_the_start(
    runner: QueueRunner, function: Function, queue: FakeWorkQueue
) -> None:
    queue.send([message("a")])
    assert len(queue.receive(1)) == 1
    runner.start()
    assert function.done.wait(5)


def test_a_queue_that_fails_for_a_while_does_not_end_the_runner(
    runner: QueueRunner,
    function: Function,
    queue: FakeWorkQueue,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    receive, failures = queue.receive, iter([QueueUnavailableError("the disk is full")])

    def failing(limit: int) -> object:
        for failure in failures:
            raise failure
        return receive(limit)

    monkeypatch.setattr(queue, "receive", failing)
    monkeypatch.setattr("local.queues.POLL_S", 0.01)
    with caplog.at_level(logging.ERROR, "keepsake.local"):
        runner.start()
        runner.send([message("a")])
        assert function.done.wait(5)
    assert caplog.messages == ["the queue WorkQueue failed: queue_unavailable"]


ALL = frozenset({"1", "2"})


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (None, set()),
        ({}, set()),
        ({"batchItemFailures": []}, set()),
        ({"batchItemFailures": None}, set()),
        ({"batchItemFailures": [{"itemIdentifier": "2"}]}, {"2"}),
        ({"batchItemFailures": [{"itemIdentifier": ""}]}, {"1", "2"}),
        ({"batchItemFailures": [{"itemIdentifier": None}]}, {"1", "2"}),
        ({"batchItemFailures": [{"itemIdentifier": "3"}]}, {"1", "2"}),
        ({"batchItemFailures": [{"id": "1"}]}, {"1", "2"}),
        ({"batchItemFailures": ["1"]}, {"1", "2"}),
        ({"batchItemFailures": "1"}, {"1", "2"}),
        ("done", {"1", "2"}),
    ],
)
def test_an_answer_is_read_as_lambda_reads_it(answer: object, failed: set[str]) -> None:
    assert failures_in(answer, ALL) == failed


def test_the_event_is_what_lambda_sends_of_a_fifo_queue(queue: FakeWorkQueue) -> None:
    queue.send([message("a")])
    (received,) = queue.receive(1)
    assert sqs_event([received], "WorkQueue") == {
        "Records": [
            {
                "messageId": "message-1",
                "receiptHandle": "1.1",
                "body": '{"version":1,"ref":"a"}',
                "attributes": {
                    "ApproximateReceiveCount": "1",
                    "SentTimestamp": str(received.sent_ms),
                    "SequenceNumber": "00000000000000000001",
                    "MessageGroupId": "g",
                    "SenderId": "123456789012",
                    "MessageDeduplicationId": "d.a",
                    "ApproximateFirstReceiveTimestamp": str(received.first_received_ms),
                },
                "messageAttributes": {},
                "md5OfBody": "681f5293b65501109fdf600088e59f80",
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:WorkQueue.fifo",
                "awsRegion": "us-east-1",
            }
        ]
    }
