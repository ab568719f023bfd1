"""Whether a turn asks for the past. Deterministic and explained: the answer is a word that says why."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RecallIntent:
    """Whether to search, and a stable word that says why. `about_me`: the turn asks what is known of the user as a whole."""

    wanted: bool
    reason: str
    about_me: bool = False


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Folded names and ids that memory knows: people, places, case numbers. Bounded by whoever keeps them."""

    names: frozenset[str] = field(default_factory=frozenset)


def recall_intent(text: str, earlier: Sequence[str], known: KnownNames) -> RecallIntent:
    """What the user's turn asks for. `earlier` are the turns before it that stand in the context anyway, oldest first."""
    raise NotImplementedError
