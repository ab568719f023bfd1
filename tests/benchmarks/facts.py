"""Conversations with questions about them, made by a seeded generator: a fact is said once, among talk, and asked for later."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from keepsake.domain.turns import Role
from tests.benchmarks.passages import english
from tests.benchmarks.sessions import SYLLABLES, TURNS, WORDS

# How a thing is said, and how it is asked for in other words.
_PAIRS = (
    ("My friend {name} has moved to {place}.", "In which town does {name} live now?"),
    ("My sister {name} works as a {work}.", "What is {name}'s job?"),
    ("{name} plays the {instrument} every evening.", "Which instrument does {name} play?"),
    ("My dog is called {name} and is {number} years old.", "How old is {name}?"),
    ("I met {name} at the market in {place}.", "Where did I meet {name}?"),
    ("{name} is allergic to {food}.", "What can't {name} eat?"),
    ("{name} gave me a {gift} for my birthday.", "What present did I get from {name}?"),
)
_WORDS = {
    "work": ("nurse", "carpenter", "teacher", "pilot", "baker", "gardener"),
    "instrument": ("violin", "cello", "trumpet", "harp", "piano", "flute"),
    "food": ("peanuts", "milk", "shrimps", "strawberries", "eggs", "wheat"),
    "gift": ("watch", "scarf", "teapot", "lamp", "bicycle", "kite"),
}
FACTS = 2  # of a session


@dataclass(frozen=True, slots=True)
class SaidTurn:
    """A turn of a session, by its id."""

    session_id: str
    turn_id: str
    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class AskedFact:
    """A question, and the turn that answers it."""

    text: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """One user's turns in their order, and the questions."""

    turns: tuple[SaidTurn, ...]
    questions: tuple[AskedFact, ...]


def conversation(sessions: int, seed: int = 1) -> Conversation:
    """So many sessions of twenty turns."""
    chance, passages = Random(seed), english(seed)
    said = _pairs(chance, sessions * FACTS)
    turns: list[SaidTurn] = []
    questions: list[AskedFact] = []
    for number in range(sessions):
        stating = chance.sample(range(0, TURNS, 2), FACTS)
        for place in range(TURNS):
            turn_id, text = f"{number}.{place}", passages.passage(WORDS)
            if place in stating:
                fact, question = next(said)
                text = f"{fact} {text}"
                questions.append(AskedFact(question, turn_id))
            role = Role.ASSISTANT if place % 2 else Role.USER
            turns.append(SaidTurn(f"session-{number}", turn_id, role, text))
    return Conversation(tuple(turns), tuple(questions))


def by_session(turns: tuple[SaidTurn, ...]) -> Iterator[tuple[str, tuple[SaidTurn, ...]]]:
    """The turns of each session."""
    for at in range(0, len(turns), TURNS):
        yield turns[at].session_id, turns[at : at + TURNS]


def _pairs(chance: Random, many: int) -> Iterator[tuple[str, str]]:
    """Statements and questions. Several things are said of each name, and each of them once."""
    names = list(dict.fromkeys(_name(chance) for _ in range(2 + many // 4)))
    told = [(pair, name) for pair in _PAIRS for name in names]
    chance.shuffle(told)
    for (statement, question), name in told[:many]:
        words = {kind: chance.choice(choices) for kind, choices in _WORDS.items()}
        words |= {"name": name, "place": _name(chance), "number": str(chance.randrange(2, 15))}
        yield statement.format(**words), question.format(**words)


def _name(chance: Random) -> str:
    return "".join(chance.choices(SYLLABLES, k=3)).capitalize()
