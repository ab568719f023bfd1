"""What a context window may cost, per model. A table that the operator may change; nothing here knows a model by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from keepsake.domain.errors import UnknownModelProfileError
from keepsake.domain.tiers import PRIORITY, Tier

DEFAULT_PROFILE = "default"


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """Budgets of one model, in its own tokens. The shares are parts of one.

    `safety_factor` is how many of the model's tokens one token of our vocabulary stands for, at most.
    """

    name: str
    window: int
    tiers: Mapping[Tier, int]
    safety_factor: Fraction
    cloud_filter: bool
    minimum_share: Fraction
    scratch_pad_share: Fraction
    summary_share: Fraction

    def scaled(self, counted: int) -> int:
        """Our count in the model's tokens, rounded up."""
        return -(-counted * self.safety_factor.numerator // self.safety_factor.denominator)

    def affordable(self, tokens: int) -> int:
        """The largest count of ours that costs at most `tokens` of the model's."""
        return tokens * self.safety_factor.denominator // self.safety_factor.numerator


@dataclass(frozen=True, slots=True)
class ModelProfiles:
    """All model profiles that are configured."""

    profiles: Mapping[str, ModelProfile]

    @property
    def names(self) -> tuple[str, ...]:
        """The names that callers may use."""
        return tuple(self.profiles)

    def get(self, name: str) -> ModelProfile:
        """The profile of that name. Raises UnknownModelProfileError."""
        profile = self.profiles.get(name)
        if profile is None:
            raise UnknownModelProfileError(f"the model profiles are: {', '.join(self.names)}")
        return profile


def parse_model_profiles(table: Mapping[str, object]) -> ModelProfiles:
    """The profiles of a parsed data file. Raises ValueError where it does not make sense; one named `default` must be there."""
    shares = {key: _share(table, key) for key in ("minimum_share", "scratch_pad_share", "summary_share")}
    rows = _table(table, "profiles")
    if DEFAULT_PROFILE not in rows:
        raise _fault(f"there is none named {DEFAULT_PROFILE!r}")
    profiles = {name: _profile(name, _table(rows, name), shares) for name in rows}
    return ModelProfiles(MappingProxyType(profiles))


def _profile(name: str, row: Mapping[str, object], shares: Mapping[str, Fraction]) -> ModelProfile:
    budgets = _table(row, "tiers")
    if set(budgets) != set(PRIORITY):
        raise _fault(f"{name!r}: the tiers are {', '.join(PRIORITY)}")
    tiers = {tier: _positive(budgets, tier) for tier in PRIORITY}
    window, factor, cloud_filter = _positive(row, "window"), _number(row, "safety_factor"), row.get("cloud_filter", False)
    if sum(tiers.values()) > window:
        raise _fault(f"{name!r}: the tiers are larger than the window")
    if factor < 1:
        raise _fault(f"{name!r}: the safety factor is below 1")
    if not isinstance(cloud_filter, bool):
        raise _fault(f"{name!r}: cloud_filter is true or false")
    return ModelProfile(name, window, MappingProxyType(tiers), factor, cloud_filter, **shares)


def _fault(what: str) -> ValueError:
    """The file is wrong, not a caller."""
    return ValueError(f"model profiles: {what}")


def _table(source: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = source.get(key)
    if not isinstance(value, Mapping):
        raise _fault(f"{key!r} is not a table")
    return value


def _positive(source: Mapping[str, object], key: str) -> int:
    value = source.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise _fault(f"{key!r} is not a positive whole number")
    return value


def _number(source: Mapping[str, object], key: str) -> Fraction:
    """As it is written, so that 1.1 is eleven tenths and no binary neighbour of it."""
    value = source.get(key)
    if not isinstance(value, int | float | Fraction) or isinstance(value, bool):
        raise _fault(f"{key!r} is not a number")
    return Fraction(str(value))


def _share(source: Mapping[str, object], key: str) -> Fraction:
    value = _number(source, key)
    if not 0 <= value < 1:
        raise _fault(f"{key!r} is not between 0 and 1")
    return value
