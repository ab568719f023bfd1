"""The gate: whether a turn searches long-term memory, by cues that are weighed; and a word that says why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from keepsake.domain.recall_intent.cues import Cues, listed_words, parse_cues
from keepsake.domain.recall_intent.features import FEATURES, features
from keepsake.domain.recall_intent.reading import (
    LATIN_LANGUAGES,
    Names,
    clipped,
    language_of,
    mentions,
    read,
    sentences,
    without_code,
    without_quotations,
)
from keepsake.domain.recall_intent.reasons import AGAINST, FOR, Reason, strongest
from keepsake.domain.text import is_blank

_LANGUAGES = frozenset({*LATIN_LANGUAGES, "ru", "ar", "hi", "ja", "zh", "th"})
_LOOK_BACK = 2  # turns whose language is taken for a turn that shows none
_READ_WHOLE = 3  # sentences of a turn that is also read as one
_NAME_ALONE = 6  # words of a turn that names somebody and needs no question mark to ask for them
_NO_ASKING = frozenset({"keep_open", "thanks_open", "rhetoric"})

Seen = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecallIntent:
    """Whether to search, and a stable word that says why, a `Reason`.

    `about_me`: the turn asks what is known of the user as a whole.
    """

    wanted: bool
    reason: str
    about_me: bool = False


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Folded names and ids that memory knows: people, places, case numbers. Bounded by whoever keeps them."""

    names: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class RecallGate:
    """Cues by language, names, and the weights of the features; a reading that weighs more than nothing searches."""

    cues: Mapping[str, Cues]
    names: Names
    weights: Mapping[str, float]
    bias: float

    def intent(self, text: str, earlier: Sequence[str] = (), known: KnownNames | None = None) -> RecallIntent:
        """What the user's turn asks for. `earlier` are the turns before it that stand in the context anyway, oldest first.

        Of long texts the beginning and the end are read. Any text will do.
        """
        if is_blank(text):
            return RecallIntent(wanted=False, reason=Reason.NOTHING_SAID)
        readings = self.readings(text, earlier)
        if not readings:
            return RecallIntent(wanted=False, reason=Reason.CODE)
        best = max(readings, key=self.weigh)
        wanted = self.weigh(best) > 0
        if wanted:
            reason = strongest(best, self.weights, FOR, Reason.ASKS_OWN_PAST)
        else:
            reason = strongest(
                best, self.weights, AGAINST, Reason.GENERAL_QUESTION if "question" in best else Reason.NO_PAST_ASKED
            )
        if reason != Reason.ASKS_ABOUT_ME and known is not None and _asks_for_known(text, readings, known):
            return RecallIntent(wanted=True, reason=Reason.NAMES_KNOWN_ENTITY)
        return RecallIntent(wanted, reason, about_me=reason == Reason.ASKS_ABOUT_ME)

    def weigh(self, seen: Seen) -> float:
        """The weight of one reading: above zero it asks for the past."""
        return self.bias + sum(self.weights.get(name, 0.0) for name in seen)

    def readings(self, text: str, earlier: Sequence[str]) -> list[Seen]:
        """The features of each sentence that is no code, and those of a short turn as a whole."""
        prose, code = without_code(clipped(text))
        if is_blank(prose):
            return []
        language = language_of(prose, self.cues, tuple(earlier[-_LOOK_BACK:]))
        prose = without_quotations(prose)
        pieces = sentences(prose)
        if 1 < len(pieces) <= _READ_WHOLE:
            pieces.append(prose)
        return [features(read(piece, language, self.cues, self.names), earlier, code=code) for piece in pieces]


def _asks_for_known(text: str, readings: Sequence[Seen], known: KnownNames) -> bool:
    asks = any(not _NO_ASKING.intersection(seen) and ("question" in seen or "inform" in seen) for seen in readings)
    alone = len(text) < _NAME_ALONE * 10 and len(text.split()) <= _NAME_ALONE and not _NO_ASKING.intersection(*readings)
    return (asks or alone) and mentions(clipped(text), known.names)


def parse_recall_gate(table: Mapping[str, object]) -> RecallGate:
    """The gate from its data file. Raises ValueError when a language is missing or a weight belongs to no feature."""
    names, weights = _section(table, "names"), _section(table, "weights")
    listed = {language: _section(table, language) for language in _LANGUAGES & table.keys()}
    if missing := _LANGUAGES - listed.keys():
        raise ValueError(f"no cues for {', '.join(sorted(missing))}")
    if unknown := weights.keys() - {*FEATURES, "bias"}:
        raise ValueError(f"weights of no feature: {', '.join(sorted(unknown))}")
    given, public, no_record = (frozenset(listed_words(names.get(kind, ""))) for kind in ("given", "public", "no_record"))
    numbers = {name: float(str(weight)) for name, weight in weights.items()}
    bias = numbers.pop("bias", 0.0)
    return RecallGate(
        {language: parse_cues(language, each) for language, each in listed.items()},
        Names(given, public, no_record),
        numbers,
        bias,
    )


def _section(table: Mapping[str, object], name: str) -> Mapping[str, object]:
    section = table.get(name)
    if isinstance(section, dict):
        return section
    raise ValueError(f"{name} must be a table")
