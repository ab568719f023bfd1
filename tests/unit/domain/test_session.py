from dataclasses import replace

import pytest

from keepsake.domain.clearance import Clearance
from keepsake.domain.intents import IntentStack
from keepsake.domain.session import MAX_BUFFER_BYTES, MAX_BUFFER_TURNS, MAX_EXCHANGE_BYTES, MAX_EXCHANGE_TURNS, SessionBuffer
from keepsake.domain.turns import MAX_TURN_BYTES, Role, Turn, exchanges, visible_exchanges


def make_turn(number: int, *, role: Role = Role.USER, text: str = "words") -> Turn:
    return Turn(f"t{number}", role, text, timestamp_ms=number, occurred_at_ms=number, tokens=3)


def filled(*turns: Turn) -> SessionBuffer:
    buffer = SessionBuffer("incarnation", started_at_ms=0, hidden_after_ms=1000)
    for turn in turns:
        buffer = buffer.appended(turn, IntentStack(), len)
    return buffer


def test_a_buffer_keeps_the_newest_turns_up_to_its_cap() -> None:
    buffer = filled(*(make_turn(number) for number in range(30)))
    assert [turn.timestamp_ms for turn in buffer.turns] == list(range(30 - MAX_BUFFER_TURNS, 30))
    assert buffer.turn_count == 30


def test_what_leaves_the_buffer_goes_into_the_running_summary() -> None:
    buffer = filled(*(make_turn(number, text=f"Something number {number} happened yesterday.") for number in range(22)))
    assert buffer.summary.turns == 2
    assert [line.text for line in buffer.summary.lines] == [
        "User: Something number 0 happened yesterday.",
        "User: Something number 1 happened yesterday.",
    ]


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
    assert buffer.summary.turns == 6


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
    before.appended(make_turn(2), IntentStack(), len)
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
