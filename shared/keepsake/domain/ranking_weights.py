"""The weights of ranking, as their data file says them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import fsum
from types import MappingProxyType


class Feature(StrEnum):
    """What speaks for a candidate. `ranking_features` says how each is measured."""

    MEANING = "meaning"
    WORDS = "words"
    WINDOW = "window"
    NEIGHBOURS = "neighbours"
    SESSION = "session"
    SPEAKER = "speaker"
    DATE = "date"
    CODES = "codes"
    RECENCY = "recency"
    IMPORTANCE = "importance"


class InvalidRankingWeightsError(ValueError):
    """The file of weights does not make sense. The message names the place in the file."""


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """How much each feature counts (`shares` add up to 1), and what recency and repetition mean.

    `half_life_days`: after so long, recency has halved. `repeated`: the share of its score that each further candidate just like
    a better one loses.
    """

    shares: Mapping[Feature, float]
    half_life_days: float
    repeated: float


def parse_ranking_weights(table: Mapping[str, object]) -> RankingWeights:
    """The weights of a parsed data file, scaled to add up to 1. Raises InvalidRankingWeightsError where it makes no sense."""
    weights = table.get("weights")
    if not isinstance(weights, dict) or set(weights) != set(Feature):
        raise InvalidRankingWeightsError(f"weights: are those of {', '.join(Feature)}")
    values = {feature: _number(weights, feature) for feature in Feature}
    total = fsum(values.values())
    if not total:
        raise InvalidRankingWeightsError("weights: one of them is above 0")
    half_life, repeated = _number(table, "half_life_days"), _number(table, "repeated")
    if not half_life:
        raise InvalidRankingWeightsError("half_life_days: is above 0")
    if repeated > 1:
        raise InvalidRankingWeightsError("repeated: is at most 1")
    return RankingWeights(MappingProxyType({feature: value / total for feature, value in values.items()}), half_life, repeated)


def _number(table: Mapping[str, object], key: str) -> float:
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise InvalidRankingWeightsError(f"{key}: is a number from 0")
    return float(value)
