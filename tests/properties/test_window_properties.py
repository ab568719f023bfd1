"""Windows of turns: whoever reads a turn finds it by the same words, whatever was said around it that the reader may not see."""

from hypothesis import given
from hypothesis import strategies as st

from keepsake.domain.clearance import OPEN, Clearance, visible
from keepsake.domain.turns import Role, Turn
from keepsake.services.drafts import REACH, windowed
from tests.claims import HIDDEN

READERS = (OPEN, Clearance(1), HIDDEN, Clearance(9, frozenset({"case", "other"})))


@st.composite
def sessions(draw: st.DrawFn) -> list[Turn]:
    said = draw(st.lists(st.sampled_from(READERS[:3]), max_size=12))
    return [
        Turn(f"t{number}", Role.USER, f"word{number} zebra{number}", number, number, 1, clearance=clearance)
        for number, clearance in enumerate(said)
    ]


@given(sessions(), st.sampled_from(READERS))
def test_hidden_turns_lend_no_words_and_shift_nothing(turns: list[Turn], reader: Clearance) -> None:
    of_all = [found for found in windowed(turns) if reader.covers(found[0].clearance)]
    assert of_all == windowed(visible(reader, turns))


@given(sessions())
def test_a_window_is_of_the_nearest_turns_that_a_reader_of_the_turn_may_see(turns: list[Turn]) -> None:
    assert [turn for turn, _, _ in windowed(turns)] == turns
    for turn, _, window in windowed(turns):
        seen = visible(turn.clearance, turns)
        place = seen.index(turn)
        near = seen[max(0, place - REACH) : place + REACH + 1]
        assert {term for term in window if term.startswith("zebra")} == {one.text.split()[1] for one in near}
