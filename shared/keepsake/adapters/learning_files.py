"""The data files that learning and recall read, compiled once a container. Apart from the others: most functions need none."""

from functools import cache

from keepsake.adapters.data_files import packaged
from keepsake.domain.entities import EntityPatterns, parse_entity_patterns
from keepsake.domain.extraction.rules import ExtractionRules, parse_extraction_rules
from keepsake.domain.memories.attributes import Attributes, parse_attributes
from keepsake.domain.model_traits import ModelTable, parse_model_table
from keepsake.domain.queries import QueryWords, parse_query_words
from keepsake.domain.ranking_weights import RankingWeights, parse_ranking_weights
from keepsake.domain.recall_intent import RecallGate, parse_recall_gate


@cache
def load_attributes() -> Attributes:
    """What is known of the attributes of memories."""
    return parse_attributes(packaged("attributes.toml"))


@cache
def load_extraction_rules() -> ExtractionRules:
    """The wordings by which people state things of themselves."""
    return parse_extraction_rules(packaged("extraction.toml"), load_attributes())


@cache
def load_entity_patterns() -> EntityPatterns:
    """What names and record numbers look like."""
    return parse_entity_patterns(packaged("entities.toml"))


@cache
def load_query_words() -> QueryWords:
    """The words that queries only ask with."""
    return parse_query_words(packaged("query_words.toml"))


@cache
def load_ranking_weights() -> RankingWeights:
    """What counts in ranking, and how much."""
    return parse_ranking_weights(packaged("ranking.toml"))


@cache
def load_model_table() -> ModelTable:
    """How each family of language models answers by a schema. Raises ValueError when the data file does not make sense."""
    return parse_model_table(packaged("models.toml"))


@cache
def load_recall_gate() -> RecallGate:
    """What decides whether a turn searches long-term memory. Raises ValueError when the data file does not make sense."""
    return parse_recall_gate(packaged("recall_patterns.toml"))
