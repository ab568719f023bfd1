"""Running schedules: by the clock, at the start, and on a tick."""

import threading
from collections.abc import Mapping

import pytest

from keepsake.adapters.sqlite_queue import QueueCounts, ReceivedMessage
from keepsake.api.scheduled import RunFailedError
from keepsake.domain.errors import QueueUnavailableError, StoreUnavailableError
from keepsake.ports.work_queue import WorkMessage
from local.queues import Consumer, QueueRunner
from local.schedules import FailedRunError, Schedule, Scheduler
from tests.fakes import FakeIds
from tests.fakes_queue import FakeWorkQueue

Told = Mapping[str, object]


class SetClock:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.ms = 0

    def now_ms(self) -> int:
        return self.ms

    def sleep(self, seconds: float) -> None:
        raise NotImplementedError


def dealt_with(_event: object, _context: object) -> Mapping[str, object]:
    return {"batchItemFailures": []}


def runner(queue: FakeWorkQueue) -> QueueRunner:
    return QueueRunner(queue, Consumer("WorkQueue", "WorkFunction", dealt_with, batch_size=1, timeout_s=300), FakeIds())


def test_a_schedule_that_fails_says_only_what_kind_of_failure() -> None:
    def broken(_more: Told) -> object:
        raise ValueError("words of a user")

    scheduler = Scheduler((Schedule("consolidation", 15, broken),), SetClock())
    with pytest.raises(FailedRunError, match=r"^consolidation failed: ValueError$"):
        scheduler.run("consolidation")


def test_a_schedule_s_own_errors_are_told_by_their_codes() -> None:
    def failing(error: Exception) -> FailedRunError:
        def run(_more: Told) -> object:
            raise error

        with pytest.raises(FailedRunError) as failed:
            Scheduler((Schedule("consolidation", 15, run),), SetClock()).run("consolidation")
        return failed.value

    assert failing(StoreUnavailableError("words of a store")).code == "store_unavailable"
    assert failing(RunFailedError("store_unavailable")).code == "store_unavailable"


def test_a_schedule_runs_once_however_far_the_clock_jumps() -> None:
    clock, ran = SetClock(), threading.Semaphore(0)
    runs: list[tuple[int, Told]] = []

    def run(more: Told) -> object:
        runs.append((clock.ms, more))
        ran.release()
        return None

    scheduler = Scheduler((Schedule("consolidation", 15, run),), clock)
    scheduler.start()
    clock.ms = 100 * 60_000
    assert ran.acquire(timeout=10)
    clock.ms += 14 * 60_000
    assert not ran.acquire(timeout=1.5)
    scheduler.stop()
    assert runs == [(100 * 60_000, {})]


def test_what_is_due_at_the_start_does_not_wait_for_its_first_time() -> None:
    ran = threading.Semaphore(0)
    scheduler = Scheduler((Schedule("index", 15, lambda _: ran.release(), at_start=True),), SetClock())
    scheduler.start()
    assert ran.acquire(timeout=10)
    scheduler.stop()


def test_a_tick_asks_for_everything_and_tells_what_became_of_the_queues() -> None:
    queue = FakeWorkQueue(SetClock())
    seen: list[Told] = []

    def plan(more: Told) -> object:
        seen.append(more)
        queue.send([WorkMessage(ref, "g", f"d.{ref}") for ref in "abc"])
        return {"sent": 3}

    scheduler = Scheduler(
        (Schedule("consolidation", 15, plan), Schedule("retention", 15, lambda _: {})), SetClock(), [runner(queue)]
    )
    assert scheduler.queues() == {"WorkQueue": {"waiting": 0, "in_flight": 0, "dead": 0}}
    outcome = scheduler.tick(["consolidation"])
    assert outcome == {"consolidation": {"sent": 3}, "WorkQueue": {"waiting": 0, "in_flight": 0, "dead": 0}}
    assert seen == [{"everything": True}]


def test_a_queue_that_fails_fails_the_tick_by_its_name() -> None:
    class Broken(FakeWorkQueue):
        def receive(self, limit: int) -> tuple[ReceivedMessage, ...]:  # noqa: ARG002
            raise QueueUnavailableError("words of a queue")

        def counts(self) -> QueueCounts:
            raise QueueUnavailableError("words of a queue")

    with pytest.raises(FailedRunError, match=r"^WorkQueue failed: queue_unavailable$"):
        Scheduler((), SetClock(), [runner(Broken(SetClock()))]).tick([])
