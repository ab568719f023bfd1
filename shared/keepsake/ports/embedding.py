"""Embedders: from texts to directions. A text never gets its neighbour's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # what masks texts takes a while to load
    from keepsake.domain.sanitizing import SanitizedText
    from keepsake.domain.vectors import Vector


class Purpose(StrEnum):
    """What a text is embedded for. Some models tell them apart."""

    QUERY = "query"
    PASSAGE = "passage"


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A model's name and the dimensions of its vectors. Vectors of two models have nothing to say to each other.

    `weak_below` and `strong_above` are the cosines between which this model's similarities lie: below and above them they say
    nothing more.
    """

    name: str
    dimensions: int
    weak_below: float = 0.0
    strong_above: float = 1.0


class Embedder(Protocol):
    """Gives each text its direction."""

    @property
    def model(self) -> EmbeddingModel:
        """The model that makes the vectors."""
        ...

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:
        """One vector for each text, in their order, each as if it were embedded alone. Longer texts are cut at the model's limit.

        Raises ModelUnavailableError when the model does not answer, or not with as many vectors as texts.
        """
        ...
