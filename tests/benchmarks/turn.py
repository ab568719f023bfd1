"""Reports what a turn costs: time, processor time, capacity units, init, memory, round trips. It reports and never gates.

python -m tests.benchmarks.turn [--turns 2000] [--quick]
"""

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

# The package stands in shared/, as the layer packs it; a checkout is measured without being installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shared"))

from keepsake.adapters.learning_files import load_recall_gate
from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.domain.turns import Role
from tests.benchmarks import candidates, cold_start, costs, service, steps
from tests.benchmarks.in_process import ByHandler, ByService, Taker, TimedStore, logs_unread
from tests.benchmarks.measuring import LOOP_NAME, Sample, in_turn, loop, spread, table
from tests.benchmarks.passages import Unasking, english
from tests.fakes import DictItemStore

AIM_CPU_MS = 2.0
FULL_AFTER = 40  # turns: the buffer holds 20, and the summary begins when they leave
MEMORY_AFTER = 2000  # turns

_HTTP = "over HTTP, SQLite"
_SQLITE_HANDLER = "handler, SQLite"


def main(arguments: Sequence[str] | None = None) -> int:
    """All sections, one after the other, printed as they come."""
    wishes = _wishes(arguments)
    print(f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(_turns(wishes.turns, wishes.rounds), flush=True)
    print(candidates.report(wishes.rounds), flush=True)
    print(costs.report(), flush=True)
    with tempfile.TemporaryDirectory() as empty:
        print(cold_start.report(wishes.runs, Path(empty)), flush=True)
    return 0


def _wishes(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.turn", description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, help="turns that are measured in each way (default 2000, quick 200)")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything: for a look, not for a record")
    wishes = parser.parse_args(arguments)
    wishes.turns = max(1, wishes.turns or (200 if wishes.quick else 2000))
    wishes.rounds = 100 if wishes.quick else 1000
    wishes.runs = 3 if wishes.quick else 9
    return wishes


def _turns(count: int, rounds: int) -> str:
    """Turns in every way, in turn; then the steps of one; then what the service became."""
    with ExitStack() as closing:
        folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="keepsake-bench-")))
        over_http = closing.enter_context(service.served(folder))
        memory = {"after its start": over_http.resident_mb()}
        closing.enter_context(logs_unread())  # before the function is loaded: its log goes where output goes then
        stores = [TimedStore(_sqlite(folder / name, closing)) for name in ("handler.db", "service.db")]
        takers: dict[str, Taker] = {
            _SQLITE_HANDLER: ByHandler(stores[0]),
            "service, SQLite": ByService(stores[1]),
            "handler, in memory": ByHandler(DictItemStore()),
            "service, in memory": ByService(DictItemStore()),
            _HTTP: over_http,
            LOOP_NAME: Looping(),
        }
        _converse(takers, FULL_AFTER)
        stores[0].forget()
        began = over_http.cpu_ms()
        samples = _converse(takers, count)
        ended = over_http.cpu_ms()
        while over_http.taken < MEMORY_AFTER and count >= MEMORY_AFTER // 2:
            _converse({_HTTP: over_http}, 100)
        memory[f"after {over_http.taken} turns"] = over_http.resident_mb()
        handler = takers[_SQLITE_HANDLER]
        assert isinstance(handler, ByHandler)
        server = None if began is None or ended is None else (ended - began) / count
        return "\n".join(
            (
                _turn_table(samples, server),
                steps.report(handler, stores[0], english(7).passage(), rounds),
                service.report(over_http, memory),
            )
        )


def _converse(takers: dict[str, Taker], count: int) -> dict[str, Sample]:
    """User and assistant by turns, the same words in every way."""
    passages, samples = Unasking(english(count), load_recall_gate()), dict[str, Sample]()
    for number in range(count):
        role, text = (Role.ASSISTANT if number % 2 else Role.USER), passages.passage()
        names = list(takers)
        first = number % len(names)
        for name in names[first:] + names[:first]:
            in_turn(samples, {name: takers[name].prepared(role, text)}, 1)
    return samples


class Looping:
    """Takes no turn: runs the loop that all others are compared with."""

    def prepared(self, _role: Role, _text: str, /) -> Callable[[], object]:
        """See Taker."""
        return loop


def _turn_table(samples: dict[str, Sample], server_cpu_ms: float | None) -> str:
    rows: list[list[object]] = []
    one_loop = median(samples[LOOP_NAME].cpu)
    for name, sample in sorted(samples.items()):
        if name == _HTTP:
            mean = "not told here" if server_cpu_ms is None else f"{server_cpu_ms:.2f}"
            loops = "-" if server_cpu_ms is None else f"{server_cpu_ms / one_loop:.1f}"
            rows.append([name, len(sample), mean, "mean", loops, *spread(sample.wall)])
        else:
            loops = f"{median(sample.cpu) / one_loop:.1f}"
            rows.append([name, len(sample), *spread(sample.cpu), loops, *spread(sample.wall)])
    heads = ["way", "count", "CPU p50", "CPU p99", "in loops", "wall p50", "wall p99"]
    return table(f"A turn of 100 words, full buffer (ms; aim: {AIM_CPU_MS:.0f} ms of processor time in process)", heads, rows)


def _sqlite(path: Path, closing: ExitStack) -> SqliteItemStore:
    store = SqliteItemStore(path)
    closing.callback(store.close)
    return store


if __name__ == "__main__":
    sys.exit(main())
