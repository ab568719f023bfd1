"""Times, percentiles and tables. What is compared is measured in turn, so that a noisy moment falls on all alike."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TypeVar

T = TypeVar("T")

LOOP_NAME = "a loop of 50,000 passes"


@dataclass(slots=True)
class Sample:
    """Measurements of one thing, in milliseconds: by the clock on the wall, and of this process's processor time."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def timed(self, call: Callable[[], T]) -> T:
        """Call and measure."""
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        answer = call()
        cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
        self.wall.append(wall / 1e6)
        self.cpu.append(cpu / 1e6)
        return answer

    def __len__(self) -> int:
        """How many there are."""
        return len(self.wall)


def loop() -> None:
    """Work that never changes: how many times as long a thing takes says more of it than its time does."""
    for _ in range(50_000):
        pass


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest measured value that at least `share` of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def in_turn(samples: dict[str, Sample], calls: dict[str, Callable[[], object]], rounds: int) -> None:
    """Call each once a round, beginning with another one each time."""
    names = list(calls)
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            samples.setdefault(name, Sample()).timed(calls[name])


def spread(values: Sequence[float]) -> list[str]:
    """The median and the 99th percentile, as cells."""
    return [f"{median(values):.2f}", f"{percentile(values, 0.99):.2f}"]


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in plain text: the first column to the left, all others to the right."""
    cells = [[str(head) for head in heads], *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    lines = [
        "  ".join(
            cell.ljust(width) if not column else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return "\n".join(["", title, "", lines[0], "-" * len(lines[0]), *lines[1:]])
