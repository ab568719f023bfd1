"""Conversations to learn from: sessions of 20 turns by a seeded generator, with facts among talk. Nobody said any of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from keepsake.domain.turns import Role
from tests.benchmarks.passages import Passages, english

TURNS = 20
WORDS = 30
_FACTS = (
    "I live in {place}.",
    "My sister {person} works in {place}.",
    "I like {thing}.",
    "I work as a {work}.",
    "My friend {person} has moved to {place}.",
    "I don't like {thing} any more.",
    "My brother is called {person}.",
    "On 3 May 2024 I travelled to {place}.",
)
_WORK = ("nurse", "carpenter", "teacher", "pilot", "baker", "gardener", "lawyer", "painter")
SYLLABLES = ("ba", "cor", "den", "eli", "fal", "gra", "hum", "iso", "jen", "kel", "lam", "mor", "nis", "olu", "pra", "rez")
FACTS = 3  # turns of a session that state something


@dataclass(frozen=True, slots=True)
class Said:
    """One turn to be taken."""

    role: Role
    text: str


class Talk:
    """Sessions, one after the other. The same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self._passages: Passages = english(seed)

    def session(self) -> Iterator[Said]:
        """Twenty turns by user and assistant in turn."""
        stating = set(self._chance.sample(range(0, TURNS, 2), FACTS))
        for number in range(TURNS):
            text = self._passages.passage(WORDS)
            if number in stating:
                text = f"{self._fact()} {text}"
            yield Said(Role.ASSISTANT if number % 2 else Role.USER, text)

    def _fact(self) -> str:
        fact = self._chance.choice(_FACTS)
        return fact.format(place=self._name(), person=self._name(), thing=self._name().lower(), work=self._chance.choice(_WORK))

    def _name(self) -> str:
        """One of some thousands: now and then one comes again."""
        return "".join(self._chance.choices(SYLLABLES, k=3)).capitalize()
