"""Names of several words and record numbers in a text: what a recall may be after, and what hits may be matched by.

Linear in the length of the text; never raises.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepsake.domain.extraction.rules import NAME
from keepsake.domain.text import folded

_MOST = 50  # entities of one text
_SPACED_NAME = re.compile(rf"(?<![\w']){NAME}(?!\w)")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class EntityPatterns:
    """What record numbers look like, and words that no name begins with."""

    records: re.Pattern[str]
    not_first: frozenset[str]


def parse_entity_patterns(content: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> EntityPatterns:
    """What the data file says, and an operator's own patterns first. Raises ValueError when one is no pattern."""
    records: Sequence[str] = [*(extra or {}).get("records", ()), *content["records"]]
    try:
        pattern = re.compile(rf"(?<![\w/-])(?:{'|'.join(f'(?:{record})' for record in records)})(?![\w/-]\w)(?!\w)")
    except re.error as error:
        raise ValueError(f"records: {error}") from error
    return EntityPatterns(pattern, frozenset(content["not_first"]))


def entities_in(text: str, patterns: EntityPatterns) -> tuple[str, ...]:
    """Record numbers and names of two words or more, as they are written, each once, in the order of their place."""
    places = [match.span() for match in patterns.records.finditer(text)] if _DIGIT.search(text) else []
    found = [(start, text[start:end]) for start, end in places]
    for match in _SPACED_NAME.finditer(text):
        if name := _name(match.group(), patterns.not_first):
            found.append((match.start(), name))
    unique: dict[str, str] = {}
    for _, entity in sorted(found):
        unique.setdefault(folded(entity), entity)
        if len(unique) >= _MOST:
            break
    return tuple(unique.values())


def _name(words: str, not_first: frozenset[str]) -> str:
    parts = words.removesuffix("'s").split(" ")
    while parts and parts[0].lower() in not_first:
        parts.pop(0)
    return " ".join(parts) if len(parts) >= 2 else ""
