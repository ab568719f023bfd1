"""Language models: a prompt in, an answer by a JSON schema out. Takes only what was sanitized."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from keepsake.domain.sanitizing import SanitizedPrompt


@dataclass(frozen=True, slots=True)
class ModelTask:
    """What a model shall answer, and by which schema. `max_tokens` bounds the answer, and with it what is reserved for it."""

    prompt: SanitizedPrompt
    schema_name: str
    schema: Mapping[str, Any]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What it answered, not yet validated: the text or JSON as it came. `cut` when it ran into `max_tokens`, `refused` when the
    model or its guard declined.
    """

    text: str
    cut: bool
    refused: bool
    input_tokens: int
    output_tokens: int
    model: str


class LanguageModel(Protocol):
    """Answers tasks."""

    def answer(self, task: ModelTask) -> ModelAnswer:
        """One call, with the timeout and retries of the adapter. Raises ModelUnavailableError."""
        ...
