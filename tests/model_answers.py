"""What language models answer, for tests of what is made of it, and a model that answers as it is told."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from keepsake.domain.errors import ModelUnavailableError
from keepsake.domain.memories.values import USER, MadeBy, Memory, MemoryType, Source, SourceType
from keepsake.domain.turns import Role, Turn
from keepsake.ports.language_model import ModelAnswer, ModelTask

AT_MS = int(datetime(2024, 3, 13, 12, tzinfo=UTC).timestamp() * 1000)  # a Wednesday


def turn(text: str, role: Role = Role.USER, number: int = 1, name: str | None = None) -> Turn:
    return Turn(f"t{number}", role, text, AT_MS + number, AT_MS, tokens=1, name=name)


def memory(value: str, attribute: str = "home", subject: str = USER) -> Memory:
    return Memory(
        memory_id=f"m-{value}",
        type=MemoryType.FACT,
        subject=subject,
        attribute=attribute,
        value=value,
        text=value,
        confidence=0.9,
        importance=0.5,
        valid_from_ms=0,
        valid_to_ms=None,
        recorded_at_ms=0,
        last_recorded_ms=0,
        made_by=MadeBy.RULES,
        sources=(Source(SourceType.CONVERSATION, 0),),
        said=1,
        last_said_ms=0,
    )


_COMMON = {
    "turn": 1,
    "subject": "user",
    "text": "",
    "denied": False,
    "since": "",
    "until": "",
    "replaces": [],
    "certainty": "sure",
}
_OWN: Mapping[str, Mapping[str, Any]] = {
    "people": {"name": "", "relationship": "", "details": ""},
    "events": {"description": "", "attribute": "", "timeframe": "", "emotions": []},
    "preferences": {"category": "", "attribute": "", "preference": ""},
    "facts": {"attribute": "", "value": ""},
    "themes": {"theme": ""},
}


def item(section: str, text: str, **given: object) -> tuple[str, dict[str, Any]]:
    """An item of an answer, complete; `text` is its sentence."""
    return section, {**_COMMON, **_OWN[section], "text": text, **given}


def answer(*items: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """An answer by the schema."""
    return {section: [given for where, given in items if where == section] for section in _OWN}


def answer_text(*items: tuple[str, dict[str, Any]]) -> str:
    return json.dumps(answer(*items), ensure_ascii=False)


class ToldModel:
    """Answers what it is told to, in turn: a text, or None for no answer at all. Remembers what it was asked."""

    def __init__(self, *answers: str | None, cut: Sequence[int] = (), refused: Sequence[int] = ()) -> None:
        self._answers = list(answers)
        self._cut, self._refused = cut, refused
        self.asked: list[ModelTask] = []

    def answer(self, task: ModelTask) -> ModelAnswer:
        self.asked.append(task)
        text = self._answers.pop(0)
        if text is None:
            raise ModelUnavailableError("a model did not answer")
        place = len(self.asked)
        return ModelAnswer(text, place in self._cut, place in self._refused, input_tokens=10, output_tokens=5, model="told")
