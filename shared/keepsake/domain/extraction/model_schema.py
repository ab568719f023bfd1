"""The schema by which a language model says what turns state: people, events, preferences, facts and themes.

Only what every service's structured output knows: types, enums, all properties required, none besides. Bounds are checked when
the answer is read. What does not apply is an empty string or list.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from keepsake.domain.memories.values import MemoryType

SCHEMA_NAME = "memories"


class Certainty(StrEnum):
    """How sure the user's words make it."""

    SURE = "sure"
    LIKELY = "likely"
    UNSURE = "unsure"


SECTIONS: Mapping[str, MemoryType] = {
    "people": MemoryType.RELATIONSHIP,
    "events": MemoryType.EVENT,
    "preferences": MemoryType.PREFERENCE,
    "facts": MemoryType.FACT,
    "themes": MemoryType.THEME,
}
# Which property of a section holds the value.
VALUES: Mapping[str, str] = {
    "people": "name",
    "events": "description",
    "preferences": "preference",
    "facts": "value",
    "themes": "theme",
}

_STRING: Mapping[str, Any] = {"type": "string"}
_COMMON: Mapping[str, Any] = {
    "turn": {"type": "integer"},
    "subject": _STRING,
    "text": _STRING,
    "denied": {"type": "boolean"},
    "since": _STRING,
    "until": _STRING,
    "replaces": {"type": "array", "items": {"type": "integer"}},
    "certainty": {"type": "string", "enum": [certainty.value for certainty in Certainty]},
}


def _section(**own: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = {**own, **_COMMON}
    item = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "array", "items": item}


_PROPERTIES: Mapping[str, Any] = {
    "people": _section(name=_STRING, relationship=_STRING, details=_STRING),
    "events": _section(description=_STRING, attribute=_STRING, timeframe=_STRING, emotions={"type": "array", "items": _STRING}),
    "preferences": _section(category=_STRING, attribute=_STRING, preference=_STRING),
    "facts": _section(attribute=_STRING, value=_STRING),
    "themes": _section(theme=_STRING),
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": _PROPERTIES,
    "required": list(_PROPERTIES),
    "additionalProperties": False,
}
