from hypothesis import given
from hypothesis import strategies as st

from keepsake.adapters.data_files import load_summary_wordings, load_topics
from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.summary import (
    MAX_BYTES,
    MAX_DECISIONS,
    MAX_LINES,
    MAX_QUESTIONS,
    MAX_TOPICS,
    SessionSummary,
    Summarizer,
)
from keepsake.domain.turns import Role, Turn

SUMMARIZER = Summarizer(len, load_topics(), load_summary_wordings())
SENTENCES = st.sampled_from(
    [
        "We decided on the garden.",
        "Let's go with metformin.",
        "I'm worried about the scan!",
        "Thank you so much 🙏",
        "Which clinic is it?",
        "Für welches Jahr?",
        "I don't know yet.",
        "保险报销这个手术吗？",
        "来月から新しい薬にします。",
        "ไม่กลัว",
        "My sister plans her wedding in Lisbon.",
        "The clinic is in Porto.",
        "ok",
        "```code```",
        "[image]",
        "\n",
    ]
)
TEXTS = st.lists(SENTENCES | st.text(st.characters(exclude_categories=["Cs"]), max_size=30), min_size=1, max_size=6).map(" ".join)
CLEARANCES = st.sampled_from([OPEN, OPEN, Clearance(1), Clearance(2, frozenset({"trial-7"}))])
TURNS = st.lists(
    st.tuples(TEXTS, st.sampled_from(Role), st.none() | st.sampled_from(["Ada", "Abby"]), CLEARANCES), max_size=40
).map(
    lambda spoken: [
        Turn(f"t{place}", role, text, place * 7, place, 1, name, clearance=clearance)
        for place, (text, role, name, clearance) in enumerate(spoken)
    ]
)


def summary_of(turns: list[Turn]) -> SessionSummary:
    return SessionSummary().extended(turns, SUMMARIZER)


@given(TURNS, st.lists(st.integers(0, 40), max_size=4).map(sorted))
def test_extended_in_any_batches_a_summary_is_the_same(turns: list[Turn], cuts: list[int]) -> None:
    stepwise = SessionSummary()
    for start, end in zip([0, *cuts], [*cuts, len(turns)], strict=True):
        # As after a crash: what was dealt with before comes again.
        stepwise = stepwise.extended(turns[max(0, start - 3) : end], SUMMARIZER)
        stepwise = SessionSummary.from_record(stepwise.to_record())
    assert stepwise == summary_of(turns)
    assert stepwise.turns == len(turns)


@given(TURNS)
def test_a_summary_keeps_to_its_bounds_and_to_the_order_of_places(turns: list[Turn]) -> None:
    summary = summary_of(turns)
    assert len(summary.lines) <= MAX_LINES
    assert len(summary.decisions) <= MAX_DECISIONS
    assert len(summary.questions) <= MAX_QUESTIONS
    assert len(summary.topics) <= MAX_TOPICS
    assert len(summary.text().encode()) <= MAX_BYTES + 12 * (MAX_LINES + MAX_DECISIONS + MAX_QUESTIONS)
    for part in (summary.lines, summary.decisions, summary.questions, summary.mentions, summary.words, summary.tones):
        places = [entry.at_ms for entry in part]
        assert places == sorted(places)


@given(TURNS, CLEARANCES)
def test_nothing_that_is_visible_comes_of_a_turn_that_is_not(turns: list[Turn], clearance: Clearance) -> None:
    seen = summary_of(turns).visible(clearance)
    hidden = {turn.timestamp_ms for turn in turns if not clearance.covers(turn.clearance)}
    parts = (seen.lines, seen.decisions, seen.questions, seen.mentions, seen.words, seen.tones)
    assert all(entry.at_ms not in hidden for part in parts for entry in part)
    assert clearance.covers(seen.clearance)


@given(TURNS, st.integers(0, 300))
def test_before_a_place_stands_nothing_of_what_comes_after_it(turns: list[Turn], place: int) -> None:
    before = summary_of(turns).before(place)
    assert all(line.at_ms < place for line in before.lines)
    assert all(decision.at_ms < place for decision in before.decisions)
    if all(turn.timestamp_ms < place for turn in turns):
        assert before == summary_of(turns)
