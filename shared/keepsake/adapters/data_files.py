"""The data files of the package, and the operator's own, read and compiled once a container."""

import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

from keepsake.domain.entities import EntityPatterns, parse_entity_patterns
from keepsake.domain.extraction.rules import ExtractionRules, parse_extraction_rules
from keepsake.domain.memories.attributes import Attributes, parse_attributes
from keepsake.domain.model_profiles import ModelProfiles, parse_model_profiles
from keepsake.domain.model_traits import ModelTable, parse_model_table
from keepsake.domain.profile_learner import ProfilePatterns, parse_patterns
from keepsake.domain.queries import QueryWords, parse_query_words
from keepsake.domain.ranking_weights import RankingWeights, parse_ranking_weights
from keepsake.domain.recall_intent import RecallGate, parse_recall_gate
from keepsake.domain.summary import SummaryWordings, parse_summary_wordings
from keepsake.domain.topics import InvalidTopicsError, TopicLexicon, parse


@lru_cache(maxsize=8)
def load_topics(extra: Path | None = None) -> TopicLexicon:
    """The topics that come with the package, extended or replaced by the operator's file `extra`.

    Raises InvalidTopicsError when that file cannot be read, is no TOML, or does not say what it should.
    """
    if extra is None:
        return parse(_packaged("topics.toml"))
    try:
        content = tomllib.loads(extra.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidTopicsError(f"{extra}: cannot be read: {error}") from error
    try:
        return parse(content, default=load_topics())
    except InvalidTopicsError as error:
        raise InvalidTopicsError(f"{extra}: {error}") from error


@cache
def load_profile_patterns() -> ProfilePatterns:
    """The wordings from which a profile is learned."""
    return parse_patterns(_packaged("profile_patterns.toml"))


@cache
def load_model_profiles() -> ModelProfiles:
    """The models' windows and budgets. Raises ValueError when the data file does not make sense."""
    return parse_model_profiles(_packaged("model_profiles.toml"))


@cache
def load_attributes() -> Attributes:
    """What is known of the attributes of memories."""
    return parse_attributes(_packaged("attributes.toml"))


@cache
def load_extraction_rules() -> ExtractionRules:
    """The wordings by which people state things of themselves."""
    return parse_extraction_rules(_packaged("extraction.toml"), load_attributes())


@cache
def load_entity_patterns() -> EntityPatterns:
    """What names and record numbers look like."""
    return parse_entity_patterns(_packaged("entities.toml"))


@cache
def load_query_words() -> QueryWords:
    """The words that queries only ask with."""
    return parse_query_words(_packaged("query_words.toml"))


@cache
def load_ranking_weights() -> RankingWeights:
    """What counts in ranking, and how much."""
    return parse_ranking_weights(_packaged("ranking.toml"))


@cache
def load_summary_wordings() -> SummaryWordings:
    """The wordings from which a session's summary tells tone, decisions and questions."""
    return parse_summary_wordings(_packaged("tone.toml"), _packaged("summary.toml"))


@cache
def load_model_table() -> ModelTable:
    """How each family of language models answers by a schema. Raises ValueError when the data file does not make sense."""
    return parse_model_table(_packaged("models.toml"))


@cache
def load_recall_gate() -> RecallGate:
    """What decides whether a turn searches long-term memory. Raises ValueError when the data file does not make sense."""
    return parse_recall_gate(_packaged("recall_patterns.toml"))


def _packaged(name: str) -> dict[str, object]:
    return tomllib.loads((files("keepsake") / "data" / name).read_text(encoding="utf-8"))
