"""Labelled turns: what they state, and how far an extraction agrees. The files' format is told in their first line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from keepsake.domain.extraction.by_rules import extract_by_rules
from keepsake.domain.extraction.rules import ExtractionRules
from keepsake.domain.memories.values import Statement
from keepsake.domain.turns import Role, Turn

AT = int(datetime(2026, 3, 18, 12, tzinfo=UTC).timestamp() * 1000)  # a Wednesday
HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Labelled:
    """Turns and what they state, as `subject.attribute=value` with marks."""

    language: str
    turns: tuple[str, ...]
    stated: frozenset[str]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many statements were right, wrong and missing."""

    right: int = 0
    wrong: int = 0
    missing: int = 0

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missing)

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(self.right + other.right, self.wrong + other.wrong, self.missing + other.missing)


def labelled(name: str) -> Iterator[Labelled]:
    """The entries of a file beside this one."""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            language, said, stated = (part.strip() for part in line.split("|"))
            yield Labelled(language, tuple(said.split(" // ")), frozenset(filter(None, stated.split("; "))))


def turns_of(texts: Sequence[str]) -> list[Turn]:
    """User turns with these texts, a second apart."""
    return [Turn(f"t{n}", Role.USER, text, AT + n * 1000, AT + n * 1000, 1) for n, text in enumerate(texts)]


def found_in(texts: Sequence[str], rules: ExtractionRules) -> frozenset[str]:
    """What the rules find, in the notation of the files."""
    return frozenset(map(_noted, extract_by_rules(turns_of(texts), rules)))


def agreement(entry: Labelled, found: frozenset[str]) -> Agreement:
    """How far what was found is what is stated."""
    return Agreement(len(entry.stated & found), len(found - entry.stated), len(entry.stated - found))


def _noted(statement: Statement) -> str:
    marks = ["denied"] if statement.denied else []
    for word, at_ms in (("from", statement.valid_from_ms), ("to", statement.valid_to_ms)):
        if at_ms is not None:
            marks.append(f"{word} {datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d}")
    marks += [f"replaces {one.value}" for one in statement.replaces if one.attribute == statement.attribute]
    fact = f"{statement.subject}.{statement.attribute}={statement.value}"
    return f"{fact} [{', '.join(marks)}]" if marks else fact
