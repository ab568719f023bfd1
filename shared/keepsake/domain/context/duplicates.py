"""Finds the item that already says what another one would say again."""

from keepsake.domain.text import terms

# Of two near-duplicates, nine tenths of all their terms are in both.
_SHARED, _OF = 9, 10
_COMPARED = 4_000  # characters; longer texts are duplicates only when they are the same


class NearDuplicates:
    """The texts that were admitted, by their terms.

    A near-duplicate lacks at most a tenth of a text's terms. So of twice as many and one, whichever they are, it holds more than
    half: those are looked up that the fewest texts hold. Most often too many are in none, and there is nothing to compare.
    """

    def __init__(self) -> None:
        self._admitted: list[tuple[str, frozenset[str]]] = []
        self._holders: dict[str, int] = {}  # term -> a bit for each text that holds it

    def admit(self, ref: str, text: str) -> str | None:
        """The ref of the first near-duplicate of a text; or None, and the text is admitted."""
        words = _words(text)
        twin = self._first_near(words)
        if twin is None:
            self._remember(ref, words)
        return twin

    def remember(self, ref: str, text: str) -> None:
        """Admits a text, whatever it repeats."""
        self._remember(ref, _words(text))

    def _first_near(self, words: frozenset[str]) -> str | None:
        tenth = len(words) * (_OF - _SHARED) // _OF
        new = words.difference(self._holders)
        if len(new) > tenth:
            return None
        rarest = sorted(map(self._holders.__getitem__, words - new), key=int.bit_count)[: 2 * tenth + 1 - len(new)]
        near = _in_at_least(tenth + 1, rarest)
        while near:
            lowest = near & -near
            ref, others = self._admitted[lowest.bit_length() - 1]
            if _OF * len(words & others) >= _SHARED * len(words | others):
                return ref
            near ^= lowest
        return None

    def _remember(self, ref: str, words: frozenset[str]) -> None:
        bit, holders = 1 << len(self._admitted), self._holders
        self._admitted.append((ref, words))
        for word in words:
            holders[word] = holders.get(word, 0) | bit


def _in_at_least(number: int, sets: list[int]) -> int:
    """What is in at least so many of the sets of bits."""
    found = [-1] + [0] * number  # found[n] is in at least n of the sets so far
    for bits in sets:
        for times in range(number, 0, -1):
            found[times] |= found[times - 1] & bits
    return found[number]


def _words(text: str) -> frozenset[str]:
    """The terms of a text; of a long one, whose terms would take too long to compare, the text as one term."""
    words = frozenset(terms(text)) if len(text) <= _COMPARED else frozenset()
    return words or frozenset((text.strip(),))
