"""What every work queue promises: SQS (under moto), SQLite, and the fake that other tests use.

Clocks that can be put forward are the embedded ones' alone; there a random history is compared step by step.
"""

from __future__ import annotations

import contextlib
import json
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pytest
from moto import mock_aws

from keepsake.adapters.sqlite_queue import QueueRules, SqliteWorkQueue
from keepsake.adapters.sqs_queue import SqsWorkQueue, make_queue_client
from keepsake.ports.work_queue import WorkMessage, WorkQueue
from tests.fakes import FakeChance, FakeClock
from tests.fakes_queue import FakeWorkQueue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType

RULES = QueueRules(visibility_ms=60_000, max_receives=3)


@dataclass(frozen=True)
class Got:
    """A message at the receiving end."""

    ref: str
    group: str
    times: int
    receipt: str


class Bench(Protocol):
    """A queue with its receiving end."""

    @property
    def queue(self) -> WorkQueue: ...
    def take(self, limit: int = 10) -> list[Got]: ...
    def done(self, got: Got) -> None: ...
    def again(self, got: Got) -> None: ...
    def dead(self) -> list[str]: ...


class Embedded:
    def __init__(self, queue: SqliteWorkQueue | FakeWorkQueue) -> None:
        self.queue = queue

    def take(self, limit: int = 10) -> list[Got]:
        return [Got(json.loads(m.body)["ref"], m.group, m.received_count, m.receipt) for m in self.queue.receive(limit)]

    def done(self, got: Got) -> None:
        assert self.queue.delete(got.receipt)

    def again(self, got: Got) -> None:
        assert self.queue.release(got.receipt)

    def dead(self) -> list[str]:
        return [json.loads(message.body)["ref"] for message in self.queue.dead_letters()]


class Sqs:
    """Two FIFO queues in moto, as the template makes them."""

    def __init__(self, client: SQSClient, name: str) -> None:
        self._client = client
        fifo: dict[QueueAttributeNameType, str] = {"FifoQueue": "true", "VisibilityTimeout": "60"}
        self._dead = client.create_queue(QueueName=f"{name}-dead.fifo", Attributes=fifo)["QueueUrl"]
        arn = client.get_queue_attributes(QueueUrl=self._dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        redrive = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": RULES.max_receives})
        fifo["RedrivePolicy"] = redrive
        self._url = client.create_queue(QueueName=f"{name}.fifo", Attributes=fifo)["QueueUrl"]
        self.queue = SqsWorkQueue(client, self._url, clock=FakeClock(), chance=FakeChance())

    def take(self, limit: int = 10) -> list[Got]:
        return self._read(self._url, limit)

    def done(self, got: Got) -> None:
        self._client.delete_message(QueueUrl=self._url, ReceiptHandle=got.receipt)

    def again(self, got: Got) -> None:
        self._client.change_message_visibility(QueueUrl=self._url, ReceiptHandle=got.receipt, VisibilityTimeout=0)

    def dead(self) -> list[str]:
        return [got.ref for got in self._read(self._dead, 10)]

    def _read(self, url: str, limit: int) -> list[Got]:
        answer = self._client.receive_message(
            QueueUrl=url, MaxNumberOfMessages=limit, MessageSystemAttributeNames=["All"], WaitTimeSeconds=0
        )
        return [
            Got(
                json.loads(message["Body"])["ref"],
                message["Attributes"]["MessageGroupId"],
                int(message["Attributes"]["ApproximateReceiveCount"]),
                message["ReceiptHandle"],
            )
            for message in answer.get("Messages", [])
        ]


@pytest.fixture(scope="module")
def client() -> Iterator[SQSClient]:
    with mock_aws():
        yield make_queue_client()


@pytest.fixture(params=["fake", "sqlite", "sqs"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    with ExitStack() as closing:
        if request.param == "fake":
            yield Embedded(FakeWorkQueue(FakeClock(), RULES))
        elif request.param == "sqlite":
            queue = SqliteWorkQueue(tmp_path / "queue.db", clock=FakeClock(), rules=RULES)
            yield Embedded(closing.enter_context(contextlib.closing(queue)))
        else:
            yield Sqs(request.getfixturevalue("client"), tmp_path.name)


def message(ref: str, group: str = "g") -> WorkMessage:
    return WorkMessage(ref=ref, group=group, deduplication=f"{group}.{ref}")


def refs(got: Sequence[Got]) -> list[str]:
    return [each.ref for each in got]


def test_nothing_sent_is_nothing_taken(bench: Bench) -> None:
    assert bench.queue.send([]) == 0
    assert bench.take() == []


def test_what_is_sent_arrives_with_its_group_and_is_gone_once_deleted(bench: Bench) -> None:
    assert bench.queue.send([message("a", "g1"), message("b", "g2")]) == 2
    got = bench.take()
    assert [(each.ref, each.group, each.times) for each in got] == [("a", "g1", 1), ("b", "g2", 1)]
    for each in got:
        bench.done(each)
    assert bench.take() == []
    assert bench.dead() == []


def test_more_than_a_batch_arrives_whole_and_in_order(bench: Bench) -> None:
    wanted = [str(number) for number in range(23)]
    assert bench.queue.send([message(ref) for ref in wanted]) == 23
    arrived: list[str] = []
    while got := bench.take(10):
        arrived += refs(got)
        for each in got:
            bench.done(each)
    assert arrived == wanted


def test_the_same_work_sent_twice_counts_as_taken_and_arrives_once(bench: Bench) -> None:
    assert bench.queue.send([message("a"), message("a")]) == 2
    assert bench.queue.send([message("a")]) == 1
    assert refs(bench.take()) == ["a"]


def test_a_group_waits_while_one_of_it_is_with_somebody_and_others_go_on(bench: Bench) -> None:
    bench.queue.send([message("a1", "a"), message("a2", "a"), message("b1", "b")])
    (first,) = bench.take(1)
    assert first.ref == "a1"
    assert refs(bench.take()) == ["b1"]
    assert bench.take() == []
    bench.done(first)
    assert refs(bench.take()) == ["a2"]


def test_what_is_released_comes_again_before_what_follows_it(bench: Bench) -> None:
    bench.queue.send([message("a1"), message("a2")])
    (first,) = bench.take(1)
    bench.again(first)
    again = bench.take()
    assert [(each.ref, each.times) for each in again] == [("a1", 2), ("a2", 1)]


def test_what_comes_too_often_is_set_aside_and_its_group_goes_on(bench: Bench) -> None:
    bench.queue.send([message("poison"), message("good")])
    for times in range(1, RULES.max_receives + 1):
        (got,) = bench.take(1)
        assert (got.ref, got.times) == ("poison", times)
        bench.again(got)
    assert refs(bench.take(1)) == ["good"]
    assert bench.dead() == ["poison"]


@pytest.mark.parametrize("odd", ["x" * 128, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"])
def test_every_group_and_deduplication_that_sqs_takes_is_taken(bench: Bench, odd: str) -> None:
    assert bench.queue.send([WorkMessage(ref="a", group=odd, deduplication=odd)]) == 1
    assert [(each.ref, each.group) for each in bench.take()] == [("a", odd)]


# ---- time, where the clock can be put forward ---------------------------------------------------------------------------


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["fake", "sqlite"])
def timed(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[SqliteWorkQueue | FakeWorkQueue]:
    if request.param == "fake":
        yield FakeWorkQueue(clock, RULES)
        return
    with contextlib.closing(SqliteWorkQueue(tmp_path / "queue.db", clock=clock, rules=RULES)) as queue:
        yield queue


Timed = SqliteWorkQueue | FakeWorkQueue


def test_what_is_not_deleted_in_time_comes_again_and_its_old_receipt_is_worth_nothing(timed: Timed, clock: FakeClock) -> None:
    timed.send([message("a")])
    (first,) = timed.receive(1)
    clock.advance(ms=RULES.visibility_ms - 1)
    assert timed.receive(1) == ()
    clock.advance(ms=1)
    assert not timed.delete(first.receipt)
    (second,) = timed.receive(1)
    assert (second.received_count, second.first_received_ms) == (2, first.first_received_ms)
    assert not timed.delete(first.receipt)
    assert not timed.release(first.receipt)
    assert timed.delete(second.receipt)
    assert timed.counts() == (0, 0, 0)


def test_a_group_waits_until_its_released_message_may_be_tried_again(timed: Timed, clock: FakeClock) -> None:
    timed.send([message("a1"), message("a2"), message("b1", "b")])
    (first,) = timed.receive(1)
    assert timed.release(first.receipt, after_ms=5_000)
    assert [each.group for each in timed.receive(10)] == ["b"]
    clock.advance(seconds=5)
    assert [each.sequence for each in timed.receive(10)] == [first.sequence, first.sequence + 1]


def test_the_same_work_may_be_sent_again_after_five_minutes_even_when_it_was_dealt_with_before(
    timed: Timed, clock: FakeClock
) -> None:
    timed.send([message("a")])
    assert timed.delete(timed.receive(1)[0].receipt)
    clock.advance(ms=5 * 60_000 - 1)
    assert timed.send([message("a")]) == 1
    assert timed.receive(1) == ()
    clock.advance(ms=1)
    timed.send([message("a")])
    assert len(timed.receive(1)) == 1


def test_messages_are_kept_four_days_and_those_set_aside_fourteen(timed: Timed, clock: FakeClock) -> None:
    timed.send([message("poison", "p")])
    for _ in range(RULES.max_receives):
        assert timed.release(timed.receive(1)[0].receipt)
    timed.send([message("forgotten")])
    assert timed.receive(0) == ()
    assert timed.counts() == (1, 0, 1)
    clock.advance(minutes=4 * 24 * 60)
    assert timed.receive(10) == ()
    assert timed.counts() == (0, 0, 1)
    clock.advance(minutes=10 * 24 * 60)
    timed.receive(10)
    assert timed.counts() == (0, 0, 0)


def test_what_was_set_aside_can_be_sent_once_more(timed: Timed) -> None:
    timed.send([message("poison")])
    for _ in range(RULES.max_receives):
        assert timed.release(timed.receive(1)[0].receipt)
    assert timed.receive(1) == ()
    (dead,) = timed.dead_letters()
    assert dead.received_count == RULES.max_receives
    timed.send([message("after")])
    assert timed.redrive() == 1
    assert timed.dead_letters() == ()
    assert [json.loads(each.body)["ref"] for each in timed.receive(10)] == ["after", "poison"]
    assert timed.redrive() == 0


def test_counts_tell_what_waits_what_is_with_somebody_and_what_was_set_aside(timed: Timed) -> None:
    timed.send([message("a"), message("b"), message("c", "other")])
    assert timed.counts() == (3, 0, 0)
    timed.receive(1)
    assert timed.counts() == (2, 1, 0)
    timed.receive(10)
    assert timed.counts() == (1, 2, 0)
