"""What language models can be asked, read from `data/models.toml`: how each is made to answer by a schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class AnswersBy(StrEnum):
    """How a model is held to a schema."""

    JSON_SCHEMA = "json_schema"  # the service holds it to it
    FORCED_TOOL = "forced_tool"  # it must call a tool whose input has the schema


@dataclass(frozen=True, slots=True)
class ModelTraits:
    """One family of models. `temperature`: whether it takes one at all."""

    answers_by: AnswersBy
    temperature: bool


@dataclass(frozen=True, slots=True)
class ModelTable:
    """Families by a part of the ids of their models, and what holds for all others."""

    families: Mapping[str, ModelTraits]
    default: ModelTraits

    def traits(self, model_id: str) -> ModelTraits:
        """Those of the family with the longest name that stands in the model's id, or in that of its inference profile."""
        matching = [name for name in self.families if name in model_id.lower()]
        return self.families[max(matching, key=len)] if matching else self.default


def parse_model_table(content: Mapping[str, Any]) -> ModelTable:
    """What the data file says. Raises ValueError when it does not make sense."""
    families = {str(name).lower(): _traits(given) for name, given in content["families"].items()}
    return ModelTable(families, _traits(content["default"]))


def _traits(given: Mapping[str, Any]) -> ModelTraits:
    if given.keys() != {"answers_by", "temperature"} or not isinstance(given["temperature"], bool):
        raise ValueError("a family of models has `answers_by` and `temperature`, which is true or false")
    return ModelTraits(AnswersBy(given["answers_by"]), given["temperature"])
