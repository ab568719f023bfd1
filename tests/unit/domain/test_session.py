from dataclasses import replace

import pytest

from keepsake.adapters.data_files import load_summary_wordings, load_topics
from keepsake.domain.clearance import Clearance
from keepsake.domain.intents import IntentStack
from keepsake.domain.session import MAX_BUFFER_BYTES, MAX_BUFFER_TURNS, MAX_EXCHANGE_BYTES, MAX_EXCHANGE_TURNS, SessionBuffer
from keepsake.domain.summary import SessionSummary, Summarizer
from keepsake.domain.turns import MAX_TURN_BYTES, Role, Turn, exchanges, visible_exchanges

SUMMARIZER = Summarizer(len, load_topics(), load_summary_wordings())


def make_turn(number: int, *, role: Role = Role.USER, text: str = "words") -> Turn:
    return Turn(f"t{number}", role, text, timestamp_ms=number, occurred_at_ms=number, tokens=3)


def filled(*turns: Turn) -> SessionBuffer:
    buffer = SessionBuffer("incarnation", started_at_ms=0, hidden_after_ms=1000)
    for turn in turns:
        buffer = buffer.appended(turn, IntentStack(), SUMMARIZER)
    return buffer


def test_a_buffer_keeps_the_newest_turns_up_to_its_cap() -> None:
    buffer = filled(*(make_turn(number) for number in range(30)))
    assert [turn.timestamp_ms for turn in buffer.turns] == list(range(30 - MAX_BUFFER_TURNS, 30))
    assert buffer.turn_count == 30


@pytest.mark.parametrize(("turns", "covered"), [(7, 0), (8, 8), (15, 8), (16, 16), (23, 16), (24, 24), (100, 96)])
def test_after_every_eighth_turn_the_summary_covers_all_turns(turns: int, covered: int) -> None:
    said = [make_turn(number, text=f"Something number {number} happened yesterday.") for number in range(turns)]
    buffer = filled(*said)
    assert buffer.summary.turns == covered
    assert buffer.summary == SessionSummary().extended(said[:covered], SUMMARIZER)


def test_no_turn_leaves_the_buffer_before_the_summary_covers_it() -> None:
    buffer = filled(make_turn(0, text="We moved to Lisbon in May."), make_turn(1, text="x" * MAX_BUFFER_BYTES))
    assert [turn.timestamp_ms for turn in buffer.turns] == [1]
    assert buffer.summary.covered_ms == 1
    assert buffer.summary.lines[0].text == "User: We moved to Lisbon in May."


def test_a_call_whose_results_leave_before_it_is_covered_too() -> None:
    call = make_turn(0, role=Role.ASSISTANT, text="I look up the appointments of March.")
    buffer = filled(call, *(make_turn(number, role=Role.TOOL) for number in range(1, MAX_EXCHANGE_TURNS + 3)))
    assert [line.text for line in buffer.summary.lines] == ["Assistant: I look up the appointments of March."]


def test_a_buffer_keeps_to_its_cap_on_bytes() -> None:
    size = MAX_BUFFER_BYTES // 4
    buffer = filled(*(make_turn(number, text="x" * size) for number in range(9)))
    assert [turn.timestamp_ms for turn in buffer.turns] == [5, 6, 7, 8]


def test_the_newest_turn_stays_whole_however_large_it_is() -> None:
    buffer = filled(make_turn(1), make_turn(2, text="ก" * (MAX_TURN_BYTES // 3)))
    assert [turn.timestamp_ms for turn in buffer.turns] == [2]
    assert len(buffer.turns[0].text) == MAX_TURN_BYTES // 3


def test_a_call_is_never_parted_from_its_results_at_the_cap() -> None:
    call = make_turn(0, role=Role.ASSISTANT)
    results = [make_turn(number, role=Role.TOOL) for number in range(1, 6)]
    later = [make_turn(number) for number in range(6, 6 + MAX_BUFFER_TURNS - 5)]
    buffer = filled(call, *results, *later)
    assert [turn.timestamp_ms for turn in buffer.turns] == [turn.timestamp_ms for turn in later]
    assert buffer.summary.turns == 16


def test_a_long_exchange_stays_together_beyond_the_cap_on_turns() -> None:
    call = make_turn(0, role=Role.ASSISTANT)
    results = [make_turn(number, role=Role.TOOL) for number in range(1, MAX_BUFFER_TURNS + 6)]
    buffer = filled(call, *results)
    assert len(buffer.turns) == MAX_BUFFER_TURNS + 6


def test_an_endless_exchange_keeps_its_call_and_its_newest_results() -> None:
    call = make_turn(0, role=Role.ASSISTANT)
    results = [make_turn(number, role=Role.TOOL) for number in range(1, 200)]
    buffer = filled(call, *results)
    assert buffer.turns[0].timestamp_ms == 0
    assert buffer.turns[-1].timestamp_ms == 199
    assert len(buffer.turns) == MAX_EXCHANGE_TURNS


@pytest.mark.parametrize("letter", ["x", "é", "ก", "🙂"])
def test_of_a_call_and_a_result_as_large_as_turns_may_be_the_call_is_cut(letter: str) -> None:
    large = letter * (MAX_TURN_BYTES // len(letter.encode()))
    call, result = filled(make_turn(0, role=Role.ASSISTANT, text=large), make_turn(1, role=Role.TOOL, text=large)).turns
    assert result.text == large
    assert call.text.removesuffix(" […]") == large[: len(call.text) - 4]
    assert MAX_EXCHANGE_BYTES - 8 < call.size + result.size <= MAX_EXCHANGE_BYTES
    assert call.tokens == len(f"Assistant: {call.text}\n")


def test_appending_leaves_the_buffer_that_was_there_as_it_was() -> None:
    before = filled(make_turn(1))
    before.appended(make_turn(2), IntentStack(), SUMMARIZER)
    assert [turn.timestamp_ms for turn in before.turns] == [1]


def test_a_buffer_ends_at_its_time_and_not_before() -> None:
    buffer = filled(make_turn(1))
    assert buffer.is_live(999)
    assert not buffer.is_live(1000)


def test_touching_never_brings_the_end_nearer() -> None:
    assert filled(make_turn(1)).touched(10).hidden_after_ms == 1000
    assert filled(make_turn(1)).touched(2000).hidden_after_ms == 2000


def test_results_of_a_call_above_the_readers_clearance_are_not_shown_as_somebody_elses() -> None:
    open_turn, call, result = make_turn(1), make_turn(2, role=Role.ASSISTANT), make_turn(3, role=Role.TOOL)
    secret = replace(call, clearance=Clearance(2))
    assert visible_exchanges(Clearance(1), [open_turn, secret, result]) == (open_turn,)
    assert visible_exchanges(Clearance(2), [open_turn, secret, result]) == (open_turn, secret, result)
    hidden_result = replace(result, clearance=Clearance(2))
    assert visible_exchanges(Clearance(1), [open_turn, call, hidden_result]) == (open_turn, call)


def test_tool_turns_belong_to_the_turn_before_them() -> None:
    roles = [Role.TOOL, Role.USER, Role.ASSISTANT, Role.TOOL, Role.TOOL, Role.USER]
    groups = exchanges(make_turn(number, role=role) for number, role in enumerate(roles))
    assert [[turn.timestamp_ms for turn in group.turns] for group in groups] == [[0], [1], [2, 3, 4], [5]]
