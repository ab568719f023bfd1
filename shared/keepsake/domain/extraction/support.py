"""Whether anybody said what a model claims to have read."""

from collections.abc import Iterable, Sequence
from enum import Enum

from keepsake.domain.analysis import stemmed
from keepsake.domain.extraction.model_prompt import Entry
from keepsake.domain.memories.values import USER, Statement
from keepsake.domain.text import folded, terms

_FILLER = 2**2  # a word of two letters is none, beside longer ones
_FULL, _PART = 0.75, 0.4  # shares
_TELLING = 4  # letters of a word of the alphabets that says something
_PARAPHRASED = 2  # telling words that a sentence shares with the turn


class Support(Enum):
    """What of the conversation supports a statement, best first."""

    FULL = "full"  # the turn holds the value, or most of its words
    PART = "part"  # the turn holds some of its words
    CONTEXT = "context"  # what stands around holds most of its words: the turn may agree to it
    PARAPHRASE = "paraphrase"  # the turn holds words of the sentence, none of the value
    NONE = "none"


class _Words:
    """A text by its folded letters and the stems of its words."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._folded = "\n".join(map(folded, texts))
        self._stems = stems(self._folded)

    def share(self, wanted: str) -> float:
        """How much of the wanted words stand here, from 0 to 1; long words count for more, as they say more."""
        plain = folded(wanted).strip()
        weights = {word: len(word) ** 2 for word in stems(plain)}
        weights = {word: weight for word, weight in weights.items() if weight > _FILLER or not word.isascii()} or weights
        if not weights:
            return 1.0 if plain and plain in self._folded else 0.0
        return sum(weight for word, weight in weights.items() if word in self._stems) / sum(weights.values())

    def telling(self, wanted: str) -> int:
        """How many of the wanted words that say something stand here."""
        return sum(len(word) >= _TELLING or not word.isascii() for word in stems(folded(wanted)) & self._stems)


def stems(text: str) -> frozenset[str]:
    """The different stems of a text's words."""
    return frozenset(stemmed(terms(text)))


class Grounds:
    """What statements are checked against: the lines of a prompt, and the names that are known already."""

    def __init__(self, entries: Sequence[Entry], known_subjects: Sequence[str]) -> None:
        self._by_number = {entry.number: _Words([entry.text]) for entry in entries}
        self._all = _Words([entry.text for entry in entries])
        self._named = _Words([*(entry.text for entry in entries), *known_subjects, *(entry.turn.name or "" for entry in entries)])

    def support(self, statement: Statement, entry: Entry) -> Support:
        """What supports a statement about an entry."""
        if statement.subject != USER and self._named.share(statement.subject) == 0:
            return Support.NONE
        turn = self._by_number[entry.number]
        share = turn.share(statement.value)
        if share >= _PART:
            return Support.FULL if share >= _FULL else Support.PART
        if self._all.share(statement.value) >= _FULL:
            return Support.CONTEXT
        return Support.PARAPHRASE if turn.telling(statement.text) >= _PARAPHRASED else Support.NONE
