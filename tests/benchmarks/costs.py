"""Capacity units of a turn of 100 words, by how full the buffer is, and by language: which item costs how much."""

from collections.abc import Mapping, Sequence

from keepsake.domain.principal import Principal
from keepsake.domain.turns import Role
from keepsake.ports.recall import RecallWish
from keepsake.services.context_windows import WindowWish
from keepsake.services.turns import TakeTurn
from tests.benchmarks.capacity import DOLLARS_PER_MILLION_READS, DOLLARS_PER_MILLION_WRITES, Charge, Metered
from tests.benchmarks.in_process import SESSION, USER, make_runtime
from tests.benchmarks.measuring import table
from tests.benchmarks.passages import Passages, english, thai
from tests.fakes import DictItemStore

AIM_WRITE_UNITS = 30
# The turn that is metered, and what its buffer held before it. The last comes when turns begin to leave into the summary.
METERED_TURNS: Mapping[int, str] = {1: "empty", 11: "half full", 21: "full", 60: "full for long"}

Charges = tuple[list[Charge], list[Charge]]


def charges(passages: Passages) -> dict[str, Charges]:
    """Reads and writes of the metered turns of one conversation."""
    store = Metered(DictItemStore())
    runtime = make_runtime(store)
    found: dict[str, Charges] = {}
    for number in range(1, max(METERED_TURNS) + 1):
        store.settled()
        role = Role.USER if number % 2 else Role.ASSISTANT
        turn = TakeTurn(SESSION, role, passages.passage(), WindowWish(), recall=RecallWish.NEVER)
        runtime.turns.take(Principal(USER), turn)
        if number in METERED_TURNS:
            found[METERED_TURNS[number]] = store.settled()
    return found


def report() -> str:
    """A table of writes and one of reads for each language."""
    parts: list[str] = []
    for language, passages in (("English", english()), ("Thai", thai())):
        found = charges(passages)
        title = f"Write units of a turn of 100 words, {language} (bytes; aim: at most {AIM_WRITE_UNITS} with a full buffer)"
        parts.append(_table(title, {buffer: writes for buffer, (_, writes) in found.items()}, DOLLARS_PER_MILLION_WRITES))
        title = f"Read units of a turn of 100 words, {language}"
        parts.append(_table(title, {buffer: reads for buffer, (reads, _) in found.items()}, DOLLARS_PER_MILLION_READS))
    return "\n".join(parts)


def _table(title: str, columns: Mapping[str, Sequence[Charge]], dollars: float) -> str:
    kinds = dict.fromkeys(charge.item for column in columns.values() for charge in column)
    rows: list[list[object]] = [[kind, *(_cell(kind, column) for column in columns.values())] for kind in kinds]
    units = [sum(charge.units for charge in column) for column in columns.values()]
    rows += [["together", *units], ["dollars per million turns", *(f"{each * dollars:.2f}" for each in units)]]
    return table(title, ["item", *(f"buffer {name}" for name in columns)], rows)


def _cell(kind: str, column: Sequence[Charge]) -> str:
    of_kind = [charge for charge in column if charge.item == kind]
    if not of_kind:
        return "-"
    return f"{sum(charge.units for charge in of_kind)} ({sum(charge.size for charge in of_kind)})"
