"""Runs what the template schedules, by the service's shifted clock, and what DynamoDB does by itself: dropping expired items.

Each schedule runs one at a time. When the clock jumps over several of its times, it runs once.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from keepsake.domain.errors import (
    IndexUnavailableError,
    KeepsakeError,
    LostRaceError,
    QueueUnavailableError,
    StoreUnavailableError,
)
from keepsake.ports.surroundings import Clock
from local.queues import QueueRunner

RETENTION = "retention"
RETENTION_MINUTES = 15
# Failures that time or a started store mends; the run is then made up for.
PASSING = frozenset({StoreUnavailableError.code, LostRaceError.code, IndexUnavailableError.code, QueueUnavailableError.code})

# How long a tick helps the queues at most.
DRAIN_S = 1_500.0
_NOTHING: Mapping[str, object] = {}

log = logging.getLogger("keepsake.local")


@dataclass(frozen=True, slots=True)
class Schedule:
    """Something that runs every so many minutes and answers with something JSON can hold.

    `run` is given what its event holds beside what the schedule says. `at_start`: it does not wait for its first time.
    """

    name: str
    minutes: int
    run: Callable[[Mapping[str, object]], object]
    at_start: bool = False


class FailedRunError(Exception):
    """A schedule's function failed. `code` is that of its error, or the type of an exception that has none."""

    def __init__(self, name: str, code: str) -> None:
        super().__init__(f"{name} failed: {code}")
        self.name = name
        self.code = code


class Scheduler:
    """The schedules and the thread that watches the clock for them."""

    def __init__(self, schedules: tuple[Schedule, ...], clock: Clock, runners: Sequence[QueueRunner] = ()) -> None:
        self._schedules = {schedule.name: schedule for schedule in schedules}
        self._clock = clock
        self._runners = tuple(runners)
        self._locks = {name: threading.Lock() for name in self._schedules}
        self._due_ms = {
            name: clock.now_ms() if schedule.at_start else self._next(schedule) for name, schedule in self._schedules.items()
        }
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="scheduler", daemon=True)

    @property
    def names(self) -> tuple[str, ...]:
        """What can be run."""
        return tuple(self._schedules)

    def start(self) -> None:
        """Begin to watch the clock."""
        self._thread.start()

    def stop(self) -> None:
        """Stop watching; a run that is under way is waited for, within reason."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def run(self, name: str, more: Mapping[str, object] = _NOTHING) -> object:
        """Run one schedule now, after a run of it that is under way. Raises FailedRunError."""
        schedule = self._schedules[name]
        with self._locks[name]:
            self._due_ms[name] = self._next(schedule)
            return _outcome(schedule, more)

    def tick(self, names: Sequence[str]) -> dict[str, object]:
        """Run schedules now, for everything that waits and not only for what is due, until the queues they filled are empty.

        What each answered, and what is left on each queue. Raises FailedRunError.
        """
        outcome: dict[str, object] = {name: self.run(name, {"everything": True}) for name in names}
        for runner in self._runners:
            outcome[runner.name] = _drained(runner)
        return outcome

    def queues(self) -> dict[str, object]:
        """How much is on each queue now."""
        return {runner.name: runner.counts()._asdict() for runner in self._runners}

    def _next(self, schedule: Schedule) -> int:
        return self._clock.now_ms() + schedule.minutes * 60_000

    def _watch(self) -> None:
        while not self._stopping.wait(1):
            for name in [name for name, due in self._due_ms.items() if due <= self._clock.now_ms()]:
                try:
                    self.run(name)
                except FailedRunError as failure:
                    log.error("%s", failure)  # noqa: TRY400 - the kind of failure only: a traceback may hold what users wrote


def _drained(runner: QueueRunner) -> object:
    try:
        return runner.drain(DRAIN_S)._asdict()
    except KeepsakeError as error:
        raise FailedRunError(runner.name, error.code) from None


def _outcome(schedule: Schedule, more: Mapping[str, object]) -> object:
    try:
        return schedule.run(more)
    except Exception as error:  # noqa: BLE001 - an entry point: a failed run must not end the service
        raise FailedRunError(schedule.name, _code(error)) from None


def _code(error: Exception) -> str:
    # Powertools, which this loads, must not be loaded before the service has set its log's level.
    from keepsake.api.scheduled import RunFailedError  # noqa: PLC0415

    if isinstance(error, KeepsakeError):
        return error.code
    return str(error) if isinstance(error, RunFailedError) else type(error).__name__
