"""The data files of the package, and the operator's own, read and compiled once a container."""

import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

from keepsake.domain.model_profiles import ModelProfiles, parse_model_profiles
from keepsake.domain.profile_learner import ProfilePatterns, parse_patterns
from keepsake.domain.summary import SummaryWordings, parse_summary_wordings
from keepsake.domain.topics import InvalidTopicsError, TopicLexicon, parse


@lru_cache(maxsize=8)
def load_topics(extra: Path | None = None) -> TopicLexicon:
    """The topics that come with the package, extended or replaced by the operator's file `extra`.

    Raises InvalidTopicsError when that file cannot be read, is no TOML, or does not say what it should.
    """
    if extra is None:
        return parse(packaged("topics.toml"))
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
    return parse_patterns(packaged("profile_patterns.toml"))


@cache
def load_model_profiles() -> ModelProfiles:
    """The models' windows and budgets. Raises ValueError when the data file does not make sense."""
    return parse_model_profiles(packaged("model_profiles.toml"))


@cache
def load_summary_wordings() -> SummaryWordings:
    """The wordings from which a session's summary tells tone, decisions and questions."""
    return parse_summary_wordings(packaged("tone.toml"), packaged("summary.toml"))


def packaged(name: str) -> dict[str, object]:
    """A data file of the package."""
    return tomllib.loads((files("keepsake") / "data" / name).read_text(encoding="utf-8"))
