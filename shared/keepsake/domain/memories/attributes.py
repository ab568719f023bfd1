"""What is known of attributes: whether one holds one value or many, how much it matters, how long it stays true and is kept.

Read from `data/attributes.toml`. An attribute that the file does not know holds many values and has its type's defaults.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keepsake.domain.memories.values import Memory, MemoryType

_DAY_MS = 24 * 3600 * 1000
_SPACES = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class AttributePolicy:
    """Rules of one attribute. `fresh_ms`: after that long without being said it needs confirmation; `kept_ms`: after that long it
    expires (None: never). `question` asks for confirmation, with `{value}` and `{subject}` in it. `asked` are words with which
    one asks for it, by which it is found beside its own.
    """

    name: str
    type: MemoryType
    single: bool
    importance: float
    fresh_ms: int
    kept_ms: int | None
    question: str
    asked: str = ""

    def keeps(self, memory: Memory, now_ms: int) -> bool:
        """Whether the memory has not expired: it counts from when it last reached us."""
        return self.kept_ms is None or memory.last_recorded_ms + self.kept_ms > now_ms


@dataclass(frozen=True, slots=True)
class Attributes:
    """All policies: of the attributes that are known by name (or by another name), and of each type for all others."""

    by_name: Mapping[str, AttributePolicy]
    by_type: Mapping[MemoryType, AttributePolicy]

    def of(self, memory: Memory) -> AttributePolicy:
        """The policy of a memory's attribute."""
        return self.policy(memory.attribute, memory.type)

    def policy(self, attribute: str, memory_type: MemoryType) -> AttributePolicy:
        """The policy of an attribute, however its name is spaced and written large or small."""
        return self.by_name.get("_".join(_SPACES.split(attribute.strip().lower()))) or self.by_type[memory_type]


def parse_attributes(content: Mapping[str, Any]) -> Attributes:
    """What the data file says. Raises ValueError when it does not make sense."""
    by_type = {kind: _policy("", kind, content["types"][kind.value], {}) for kind in MemoryType}
    by_name: dict[str, AttributePolicy] = {}
    for name, given in content["attributes"].items():
        kind = MemoryType(given["type"])
        policy = _policy(name, kind, given, content["types"][kind.value])
        for word in (name, *given.get("also", ())):
            if word in by_name:
                raise ValueError(f"attribute {word} stands there twice")
            by_name[word] = policy
    return Attributes(by_name, by_type)


def _policy(name: str, kind: MemoryType, given: Mapping[str, Any], default: Mapping[str, Any]) -> AttributePolicy:
    known = {**default, **given}
    kept_days = known.get("kept_days", 0)
    if not 0 <= known["importance"] <= 1 or known["fresh_days"] < 1 or kept_days < 0:
        raise ValueError(f"attribute {name or kind}: importance lies between 0 and 1, days are whole and positive")
    return AttributePolicy(
        name=name,
        type=kind,
        single=bool(known.get("single", False)),
        importance=float(known["importance"]),
        fresh_ms=int(known["fresh_days"]) * _DAY_MS,
        kept_ms=int(kept_days) * _DAY_MS or None,
        question=str(known["question"]),
        asked=str(known.get("asked", "")),
    )
