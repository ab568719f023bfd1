"""Reads the model profiles that come with the package."""

import tomllib
from functools import cache
from importlib.resources import files

from keepsake.domain.model_profiles import ModelProfiles, parse_model_profiles


@cache
def load_model_profiles() -> ModelProfiles:
    """The model profiles. Raises ValueError when the data file does not make sense."""
    text = files("keepsake").joinpath("data", "model_profiles.toml").read_text(encoding="utf-8")
    return parse_model_profiles(tomllib.loads(text))
