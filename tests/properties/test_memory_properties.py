"""Memories do not depend on the order in which what was said arrives, nor on how it is cut into pages, nor on repetition."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from keepsake.adapters.learning_files import load_attributes
from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.digest import Digest
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.memories.claims import MAX_CLAIMS, Claim, Claims, Stance
from keepsake.domain.memories.histories import history, readings, value_of
from keepsake.domain.memories.values import USER, MadeBy, Memory, MemoryType, Replaced, Statement
from keepsake.domain.turns import Role, Turn
from keepsake.repositories.stored import Stored
from keepsake.services.learning import Learning, merged
from tests.claims import DAY, HIDDEN, HOME, claim, slot

VALUES = ("Oslo", "Rome", "Lima", "京都")
LEVELS = (OPEN, Clearance(1), HIDDEN)
LEARNING = Learning(load_attributes(), KeyedHash("v1", bytes(32)))


@st.composite
def claims(draw: st.DrawFn, *, past: bool = True, stances: Sequence[Stance] = tuple(Stance)) -> Claim:
    day = draw(st.integers(0, 40))
    stance = draw(st.sampled_from(stances))
    value = draw(st.sampled_from(VALUES))
    since = draw(st.none() | st.integers(0, 60)) if stance is Stance.AFFIRMS else None
    first = 0 if past else day + 1
    until = draw(st.none() | st.integers(first, 80).filter(lambda until: since is None or until > since))
    ending_of_all = stance is not Stance.AFFIRMS and draw(st.booleans())
    more = {"clearance": draw(st.sampled_from(LEVELS)), "place": draw(st.integers(0, 3)), "since": since, "until": until}
    said = claim(value, day, stance, **more)
    named = replace(said, claim_id=f"{said.claim_id}-{since}-{until}-{said.place}-{said.clearance.level}-{ending_of_all}")
    return replace(named, value_id="") if ending_of_all else named


MANY = st.lists(claims(), max_size=16, unique_by=lambda one: one.claim_id)


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[list[Claim], list[list[Claim]]]:
    """Claims, and the same in some other order, cut into pages, some of which come again."""
    said = draw(MANY)
    order = draw(st.permutations(said))
    cuts = sorted(draw(st.lists(st.integers(0, len(order)), max_size=6)))
    pages = [list(order[start:end]) for start, end in zip([0, *cuts], [*cuts, len(order)], strict=True)]
    again = draw(st.lists(st.sampled_from(pages), max_size=4))
    return said, [*pages, *again]


def arrived(pages: Sequence[Sequence[Claim]]) -> Claims:
    claims = Claims(HOME, MemoryType.FACT)
    for page in pages:
        claims = claims.with_claims(page)
    return claims


@given(arrivals())
def test_order_pages_and_repetition_make_no_difference(case: tuple[list[Claim], list[list[Claim]]]) -> None:
    said, pages = case
    assert arrived(pages) == slot(*said)
    assert history("s", arrived(pages)) == history("s", slot(*said))


@given(st.permutations(range(3 * MAX_CLAIMS)), st.integers(1, 40))
def test_neither_do_they_beyond_the_bound_while_the_same_is_said(days: list[int], size: int) -> None:
    pages = [[claim("Oslo", day) for day in days[at : at + size]] for at in range(0, len(days), size)]
    claims = arrived(pages)
    assert claims == slot(*(claim("Oslo", day) for day in sorted(days)))
    assert claims.with_claims(pages[0]) == claims


@given(st.lists(claims(past=False), max_size=20))
def test_a_slot_holds_one_value_at_a_time(said: list[Claim]) -> None:
    for reader in LEVELS:
        memories = [memory for memory in history("s", slot(*said), reader) if not memory.denied]
        for day in range(90):
            assert sum(memory.holds_at(day * DAY) for memory in memories) <= 1, day


@given(MANY)
def test_memories_make_sense(said: list[Claim]) -> None:
    memories = history("s", slot(*said))
    ids = [memory.memory_id for memory in memories]
    assert len(set(ids)) == len(ids)
    for memory in memories:
        assert memory.valid_to_ms is None or memory.valid_from_ms <= memory.valid_to_ms
        assert memory.superseded_by is None or memory.superseded_by in ids
        assert value_of(memory.memory_id)[0] == "s"
        assert 0 < memory.confidence <= 1
        assert memory.sources
    assert [memory.valid_from_ms for memory in memories] == sorted(memory.valid_from_ms for memory in memories)


@given(MANY, st.sampled_from(LEVELS))
def test_a_reader_hears_what_it_would_hear_if_nothing_else_had_been_said(said: list[Claim], reader: Clearance) -> None:
    seen = [one for one in said if reader.covers(one.clearance)]
    heard = [replace(memory, unheard=()) for memory in history("s", slot(*said), reader)]
    assert heard == [replace(memory, unheard=()) for memory in history("s", slot(*seen), reader)]


FLOOD = [
    claim(("Oslo", "Safe")[day % 2], day, clearance=clearance, claim_id=f"{clearance.level}-{day}", confirmed=True)
    for day in range(2 * MAX_CLAIMS)
    for clearance in (Clearance(5), Clearance(5, frozenset({"case"})))
]


@given(MANY, st.integers(1, len(FLOOD)), st.sampled_from(LEVELS))
def test_hidden_claims_push_out_nothing_that_a_reader_hears(said: list[Claim], hidden: int, reader: Clearance) -> None:
    flooded = slot(*FLOOD[:hidden]).with_claims(said).with_claims(FLOOD)
    heard = [replace(memory, unheard=()) for memory in history("s", flooded, reader)]
    assert heard == [replace(memory, unheard=()) for memory in history("s", slot(*said), reader)]


@given(MANY)
def test_every_reader_finds_the_reading_that_it_would_hear(said: list[Claim]) -> None:
    for reader in (*LEVELS, Clearance(9, frozenset({"case", "other"}))):
        heard = {(one.memory_id, one.value, one.valid_to_ms, one.denied) for one in history("s", slot(*said), reader)}
        read = [one for one in readings("s", slot(*said)) if one.is_for(reader)]
        assert {(one.memory_id, one.value, one.valid_to_ms, one.denied) for one in read} == heard


@given(MANY, st.lists(claims(stances=(Stance.AFFIRMS,)), max_size=5))
def test_ids_stay_when_more_is_said_later(said: list[Claim], later: list[Claim]) -> None:
    before = [memory.memory_id for memory in history("s", slot(*said))]
    newer = [replace(one, claim_id=f"later-{one.claim_id}", said_at_ms=one.said_at_ms + 100 * DAY) for one in later]
    assert set(before) <= {memory.memory_id for memory in history("s", slot(*said, *newer[: MAX_CLAIMS - len(said)]))}


# ---- The digest


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), claims()), max_size=12), st.randoms(use_true_random=False))
def test_the_digest_does_not_depend_on_the_order_of_slots(said: list[tuple[str, Claim]], chance: object) -> None:
    slots = {name: slot(*(one for other, one in said if other == name)) for name, _ in said}
    memories: dict[str, tuple[Memory, ...]] = {name: readings(name, claims) for name, claims in slots.items()}
    at_once = Digest().with_slots(memories)
    one_by_one = Digest()
    for name in sorted(memories, key=lambda _: chance.random()):  # type: ignore[attr-defined]
        one_by_one = one_by_one.with_slots({name: memories[name]})
    assert one_by_one == at_once == at_once.with_slots(memories)


# ---- From statements on

TURNS = [Turn(f"t{number}", Role.USER, "words", 1000 * DAY + number, number // 3 * DAY, 1) for number in range(12)]


@st.composite
def statements(draw: st.DrawFn) -> list[Statement]:
    found = []
    for turn in TURNS:
        for _ in range(draw(st.integers(0, 2))):
            attribute = draw(st.sampled_from(["home", "likes", "sister", "motto"]))
            value, other = draw(st.permutations(VALUES))[:2]
            found.append(
                Statement(
                    turn_id=turn.turn_id,
                    type=draw(st.sampled_from(MemoryType)),
                    subject=USER,
                    attribute=attribute,
                    value=value,
                    text=f"{attribute} {value}",
                    confidence=0.8,
                    importance=0.6,
                    made_by=draw(st.sampled_from([MadeBy.RULES, MadeBy.MODEL])),
                    denied=draw(st.booleans()),
                    replaces=(Replaced(USER, attribute, other),) if draw(st.booleans()) else (),
                )
            )
    return found


@given(statements(), st.permutations(range(len(TURNS))), st.integers(1, 5))
def test_turns_teach_the_same_in_any_order_and_by_any_pages(said: list[Statement], order: list[int], size: int) -> None:
    at_once = learned([TURNS], said)
    pages = [[TURNS[place] for place in order[at : at + size]] for at in range(0, len(order), size)]
    assert learned([*pages, pages[0]], said) == at_once


def learned(pages: Sequence[Sequence[Turn]], said: Sequence[Statement]) -> dict[str, Claims]:
    known: dict[str, Claims] = {}
    for page in pages:
        places = {turn.turn_id for turn in page}
        found = LEARNING.from_turns("ada", "s1", page, [one for one in said if one.turn_id in places])
        stored = {one.slot_id: Stored(known.get(one.slot_id)) for one in found}
        known |= {slot.slot_id: slot.claims for slot in merged(found, stored)}
    return known
