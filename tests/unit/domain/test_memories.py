"""What holds when, worked out of what was said once."""

from dataclasses import replace

import pytest

from keepsake.adapters.learning_files import load_attributes
from keepsake.domain.clearance import Clearance
from keepsake.domain.memories.claims import MAX_CLAIMS, MAX_CLEARANCES, MAX_REPEATS, Claims, Stance, slot_of, value_key
from keepsake.domain.memories.histories import MAX_SOURCES, history, readings, value_of
from keepsake.domain.memories.values import MemoryType
from tests.claims import DAY, HIDDEN, OPEN, claim, slot, told

ENDS, DENIES = Stance.ENDS, Stance.DENIES
ATTRIBUTES = load_attributes()


def test_what_was_said_holds_from_then_on() -> None:
    assert told(claim("Oslo", 1)) == [("Oslo", 1, None)]


def test_a_newer_value_takes_the_place_of_the_older_one() -> None:
    oslo, rome = history("s", slot(claim("Oslo", 1), claim("Rome", 60)))
    assert (oslo.value, oslo.valid_to_ms, oslo.superseded_by) == ("Oslo", 60 * DAY, rome.memory_id)
    assert (rome.value, rome.valid_to_ms, rome.superseded_by) == ("Rome", None, None)
    assert oslo.holds_at(30 * DAY)
    assert not oslo.holds_at(60 * DAY)
    assert rome.holds_at(60 * DAY)


def test_what_arrives_late_stands_where_it_was_said() -> None:
    assert told(claim("Rome", 60), claim("Oslo", 1)) == [("Oslo", 1, 60), ("Rome", 60, None)]


def test_the_same_said_again_counts_and_strengthens() -> None:
    (once,) = history("s", slot(claim("Oslo", 1)))
    (twice,) = history("s", slot(claim("Oslo", 1), claim("Oslo", 9)))
    assert (twice.said, twice.last_said_ms, twice.valid_from_ms) == (2, 9 * DAY, 1 * DAY)
    assert once.confidence < twice.confidence < 1
    assert twice.memory_id == once.memory_id


def test_what_comes_back_is_another_memory_of_the_same_value() -> None:
    first, rome, again = history("s", slot(claim("Oslo", 1), claim("Rome", 5), claim("Oslo", 9)))
    assert [(one.value, one.valid_to_ms) for one in (first, rome, again)] == [
        ("Oslo", 5 * DAY),
        ("Rome", 9 * DAY),
        ("Oslo", None),
    ]
    assert first.memory_id != again.memory_id
    assert value_of(again.memory_id) == value_of(first.memory_id) == ("s", "oslo")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([claim("Oslo", 1), claim("Oslo", 9, ENDS)], [("Oslo", 1, 9)]),
        ([claim("Oslo", 1), claim("", 9, ENDS, value_id="")], [("Oslo", 1, 9)]),
        ([claim("Oslo", 1), claim("Oslo", 9, ENDS, until=4)], [("Oslo", 1, 4)]),
        ([claim("Oslo", 5), claim("Oslo", 9, ENDS, until=4)], [("Oslo", 5, 5)]),  # never before it began
        ([claim("Rome", 1), claim("Oslo", 9, ENDS)], [("Rome", 1, None)]),
        ([claim("Oslo", 9, ENDS)], []),
        ([claim("Oslo", 9, ENDS), claim("Oslo", 1)], [("Oslo", 1, 9)]),
        ([claim("Oslo", 1), claim("Oslo", 9, DENIES)], []),
        ([claim("Oslo", 1), claim("Rome", 5), claim("Rome", 9, DENIES)], [("Oslo", 1, None)]),
        ([claim("Oslo", 1), claim("Oslo", 5, DENIES), claim("Oslo", 9)], [("Oslo", 9, None)]),
        ([claim("Oslo", 9, until=4)], [("Oslo", 4, 4)]),
        ([claim("Oslo", 9, since=1, until=4)], [("Oslo", 1, 4)]),
        ([claim("Oslo", 1), claim("Oslo", 9, until=4)], [("Oslo", 1, 4)]),
        ([claim("Oslo", 1), claim("Rome", 9, until=4)], [("Oslo", 1, None), ("Rome", 4, 4)]),
        ([claim("Oslo", 9, since=2)], [("Oslo", 2, None)]),
        ([claim("Oslo", 9), claim("Oslo", 12, since=2)], [("Oslo", 2, None)]),
        ([claim("Oslo", 1), claim("Rome", 9, since=5)], [("Oslo", 1, 5), ("Rome", 5, None)]),
        ([claim("Oslo", 1), claim("Rome", 5, since=9)], [("Oslo", 1, 9), ("Rome", 9, None)]),  # from a day to come
        ([claim("Oslo", 1, until=20)], [("Oslo", 1, 20)]),
        ([claim("Oslo", 1, until=20), claim("Rome", 9)], [("Oslo", 1, 9), ("Rome", 9, None)]),
        ([claim("Oslo", 1, until=20), claim("Oslo", 9, until=30)], [("Oslo", 1, 30)]),
        ([claim("Oslo", 1, until=20), claim("Oslo", 9, ENDS)], [("Oslo", 1, 9)]),
    ],
)
def test_endings_denials_and_dates_of_past_and_future(said: list[object], expected: list[tuple[str, int, int | None]]) -> None:
    assert told(*said) == expected  # type: ignore[arg-type]


def test_what_took_the_place_is_known_also_of_what_was_said_to_have_ended_in_the_same_breath() -> None:
    """I don't live in Oslo any more, I live in Rome. And: I live in Rome, not in Oslo."""
    ended, there = claim("Oslo", 5, ENDS), claim("Rome", 5)
    for first, second in ((ended, there), (there, ended)):
        oslo, rome = history("s", slot(claim("Oslo", 1), replace(first, place=1), replace(second, place=2)))
        assert (oslo.valid_to_ms, oslo.superseded_by) == (5 * DAY, rome.memory_id)


def test_within_a_turn_the_last_word_counts() -> None:
    corrected = replace(claim("Rome", 5), place=2)
    assert told(replace(claim("Oslo", 5), place=1), corrected) == [("Oslo", 5, 5), ("Rome", 5, None)]
    assert set(told(corrected, replace(claim("Oslo", 5), place=3))) == {("Rome", 5, 5), ("Oslo", 5, None)}


def test_turns_of_one_time_count_in_the_order_in_which_they_arrived() -> None:
    """An imported conversation may know no more than a day."""
    rome = replace(claim("Rome", 5), recorded_at_ms=7 * DAY)
    assert told(rome, claim("Oslo", 5))[-1] == ("Rome", 5, None)


def test_a_denied_memory_stays_in_the_history_and_never_holds() -> None:
    (oslo,) = history("s", slot(claim("Oslo", 1), claim("Oslo", 9, DENIES)))
    assert oslo.denied
    assert not any(oslo.holds_at(day * DAY) for day in range(12))


def test_a_confirmation_settles_it_and_shows_the_users_own_words() -> None:
    own = claim("Oslo", 9, confirmed=True, text="Home is Oslo.", confidence=0.5)
    (memory,) = history("s", slot(claim("Oslo", 1), own))
    assert (memory.confirmed, memory.text) == (True, "Home is Oslo.")
    assert memory.confidence > 0.98


# ---- Who may hear it


def test_what_a_reader_may_not_see_neither_ends_nor_strengthens_what_the_reader_may() -> None:
    said = (claim("Oslo", 1), claim("Oslo", 3, clearance=HIDDEN), claim("Rome", 5, clearance=HIDDEN))
    low, high = history("s", slot(*said), OPEN), history("s", slot(*said), HIDDEN)
    (alone,) = history("s", slot(said[0]), OPEN)
    assert [replace(one, unheard=()) for one in low] == [alone]
    assert [memory.value for memory in high] == ["Oslo", "Rome"]
    assert high[0].valid_to_ms == 5 * DAY


@pytest.mark.parametrize("stance", [ENDS, DENIES])
def test_a_hidden_ending_is_not_heard(stance: Stance) -> None:
    said = (claim("Oslo", 1), claim("Oslo", 5, stance, clearance=HIDDEN))
    assert told(*said, clearance=OPEN) == [("Oslo", 1, None)]
    assert told(*said, clearance=Clearance(9)) == [("Oslo", 1, None)]  # without the compartment
    assert told(*said, clearance=HIDDEN) != [("Oslo", 1, None)]


def test_repeats_that_only_others_may_hear_are_not_counted() -> None:
    hidden = [claim("Oslo", day, clearance=HIDDEN) for day in range(2, 2 * MAX_CLAIMS)]
    (low,) = history("s", slot(claim("Oslo", 1), *hidden), OPEN)
    (high,) = history("s", slot(claim("Oslo", 1), *hidden), HIDDEN)
    assert low.said == 1
    assert high.said == 2 * MAX_CLAIMS - 1


def test_every_reading_of_a_slot_is_what_one_kind_of_reader_hears() -> None:
    claims = slot(claim("Oslo", 1), claim("Rome", 5, clearance=HIDDEN))
    for reader in (OPEN, Clearance(2), HIDDEN, Clearance(9, frozenset({"case", "other"}))):
        heard = {(one.memory_id, one.valid_to_ms) for one in history("s", claims, reader)}
        assert {(one.memory_id, one.valid_to_ms) for one in readings("s", claims) if one.is_for(reader)} == heard


def test_an_open_memory_is_read_however_many_clearances_spoke_first_and_who_may_see_all_reads_all() -> None:
    apart = [claim(f"Place{name}", day, clearance=Clearance(0, frozenset({name}))) for day, name in enumerate("abcdefg")]
    told_apart = readings("s", slot(*apart, claim("Rome", 9)))
    for reader, place in ((OPEN, "Rome"), (Clearance(3, frozenset("abcdefg")), "Rome")):
        held = [one.value for one in told_apart if one.is_for(reader) and one.holds_at(10 * DAY)]
        assert held == [place]


# ---- Bounds


def test_thousands_of_repeats_are_counted_and_take_no_room() -> None:
    claims = slot()
    for day in range(3 * MAX_CLAIMS):
        claims = claims.with_claims([claim("Oslo", day)])
    assert len(claims.claims) == MAX_CLAIMS
    (memory,) = history("s", claims)
    assert memory.said == 3 * MAX_CLAIMS
    assert (memory.valid_from_ms, memory.last_said_ms) == (0, (3 * MAX_CLAIMS - 1) * DAY)
    assert len(memory.sources) == MAX_SOURCES
    assert claims.with_claims([claim("Oslo", day) for day in range(3 * MAX_CLAIMS)]) == claims


def test_bounds_hold_for_whatever_is_said() -> None:
    many = slot(*(claim("Oslo", day) for day in range(2 * MAX_REPEATS)))
    assert (len(many.claims), len(many.repeats)) == (MAX_CLAIMS, MAX_REPEATS)
    changing = slot(*(claim(f"Town{day}", day) for day in range(3 * MAX_CLAIMS)))
    assert len(changing.claims) == MAX_CLAIMS
    assert changing.with_claims([claim("Town0", 0)]) == changing


def test_a_claim_that_says_something_is_not_thinned_out() -> None:
    said = [claim("Oslo", day) for day in range(MAX_CLAIMS)]
    own = [claim("Oslo", 500, confirmed=True), claim("Oslo", 501, since=0)]
    kept = slot(*own, *said, *(claim("Oslo", 600 + day) for day in range(MAX_CLAIMS))).claims
    assert set(own) <= set(kept)


def test_what_is_confirmed_or_denied_outlives_what_was_only_said_and_so_does_the_last_word() -> None:
    lasting = [claim("Oslo", 1, confirmed=True), claim("Lima", 2, DENIES)]
    kept = slot(*lasting, *(claim(f"Town{day}", day) for day in range(3, 4 * MAX_CLAIMS))).claims
    assert len(kept) == MAX_CLAIMS
    assert kept[:2] == tuple(lasting)
    own = [claim(f"Town{day}", day, confirmed=True) for day in range(2 * MAX_CLAIMS)]
    assert slot(*own, claim("Rome", 999)).claims[-2:] == (own[-1], claim("Rome", 999))


def test_claims_of_many_clearances_are_bounded_the_most_open_ones_first() -> None:
    clearances = [OPEN, *(Clearance(level, frozenset({"case"})) for level in range(2 * MAX_CLEARANCES))]
    said = [
        claim(f"Town{day}", day, clearance=clearance, claim_id=f"{place}-{day}")
        for place, clearance in enumerate(clearances)
        for day in range(2 * MAX_CLAIMS)
    ]
    kept = [one.clearance for one in slot(*reversed(said)).claims]
    counts = [kept.count(clearance) for clearance in clearances]
    assert counts[:MAX_CLEARANCES] == [MAX_CLAIMS, MAX_CLAIMS, *[1] * (MAX_CLEARANCES - 2)]
    assert not any(counts[MAX_CLEARANCES:])


# ---- Forgetting


def test_only_what_the_one_who_forgets_may_see_is_gone_and_barred() -> None:
    said = (claim("Oslo", 1), claim("Oslo", 2, clearance=HIDDEN), claim("Oslo", 3, clearance=Clearance(1)))
    later = [claim("Oslo", 9), claim("Oslo", 10, clearance=HIDDEN)]
    by_open = slot(*said).without_value("oslo", OPEN)
    assert by_open.claims == said[1:]
    assert by_open.with_claims(later).claims == (*said[1:], later[1])
    by_both = by_open.without_value("oslo", HIDDEN)
    assert by_both.claims == ()
    assert by_both.with_claims(later) == by_both
    assert by_both.allowing("oslo", HIDDEN).with_claims(later).claims == tuple(later)
    apart = slot(*said).without_value("oslo", Clearance(1)).without_value("oslo", Clearance(0, frozenset({"case"})))
    assert apart.with_claims([*later, claim("Oslo", 11, clearance=Clearance(1, frozenset({"case"})))]).claims == (
        said[1],
        later[1],
        claim("Oslo", 11, clearance=Clearance(1, frozenset({"case"}))),
    )
    assert apart.allowing("oslo", OPEN).with_claims(later[:1]).claims == (said[1], later[0])


def test_what_was_forgotten_is_not_learned_again_unless_the_user_says_so_on_purpose() -> None:
    forgotten = slot(claim("Oslo", 1), claim("Rome", 5)).without_value("oslo", OPEN)
    assert [memory.value for memory in history("s", forgotten)] == ["Rome"]
    assert forgotten.with_claims([claim("Oslo", 9)]) == forgotten
    assert forgotten.allowing("oslo", OPEN).with_claims([claim("Oslo", 9)]).claims[-1].value == "Oslo"


# ---- Slots


def test_an_attribute_of_one_value_has_one_slot_and_one_of_many_has_one_for_each() -> None:
    def of(attribute: str, value: str) -> object:
        return slot_of(ATTRIBUTES, "user", attribute, value, MemoryType.FACT)

    assert of("home", "Oslo") == of("home", "Rome") == of("lives in", "Oslo")
    assert of("likes", "tea") != of("likes", "chess")
    assert of("likes", "Green  tea!") == of("likes", "green tea")


@pytest.mark.parametrize("value", ["東京", "ความสุข", "القاهرة", "🦊", "Straße", "!?"])
def test_every_script_has_a_value_of_its_own(value: str) -> None:
    assert value_key(value)
    assert value_key(value) != value_key(value + "x")


def test_an_empty_slot_has_no_history() -> None:
    assert history("s", Claims(slot().slot, MemoryType.FACT)) == ()
