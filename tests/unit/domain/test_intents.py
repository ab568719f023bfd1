import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.adapters.data_files import load_topics
from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.errors import CorruptItemError
from keepsake.domain.intents import Intent, IntentStack

LEXICON = load_topics()
SECRET = Clearance(2, frozenset({"trial"}))


def conversation(*texts: str) -> IntentStack:
    stack = IntentStack()
    for turn, text in enumerate(texts, start=1):
        stack = stack.advance(text, turn, LEXICON)
    return stack


def test_the_context_line_is_worded_as_published() -> None:
    stack = IntentStack(max_depth=3, expiry_turns=10)
    stack = stack.push("diabetes", turn=1)
    stack = stack.push("metformin", turn=2)
    assert stack.context_line(OPEN) == "Active conversation topics: diabetes, metformin"


def test_an_empty_stack_has_no_context_line() -> None:
    assert IntentStack().context_line(OPEN) == ""


def test_pushing_leaves_the_old_stack_as_it_was() -> None:
    before = IntentStack().push("diabetes", turn=1)
    after = before.push("metformin", turn=2)
    assert before.topics == ("diabetes",)
    assert after.topics == ("diabetes", "metformin")


def test_a_fourth_topic_drops_the_oldest() -> None:
    stack = conversation("diabetes", "metformin", "asthma", "stroke")
    assert stack.topics == ("metformin", "asthma", "stroke")


def test_a_topic_mentioned_again_moves_to_the_top_and_stays_longer() -> None:
    stack = conversation("diabetes", "metformin", "asthma", "diabetes again", "stroke")
    assert stack.topics == ("asthma", "diabetes", "stroke")


def test_a_topic_leaves_after_ten_turns_without_mention() -> None:
    assert conversation("diabetes", *["nice weather"] * 9).topics == ("diabetes",)
    assert conversation("diabetes", *["nice weather"] * 10).topics == ()


def test_a_mention_starts_the_ten_turns_anew() -> None:
    assert conversation("diabetes", *["nice weather"] * 9, "diabetes", *["nice weather"] * 9).topics == ("diabetes",)


def test_a_follow_up_in_the_tenth_turn_still_counts_as_a_mention() -> None:
    assert conversation("diabetes", *["nice weather"] * 9, "break it down by age").topics == ("diabetes",)


def test_an_explicit_change_of_topic_clears_the_stack() -> None:
    assert conversation("What's the diabetes prevalence on metformin?", "Now let's look at hypertension").topics == (
        "hypertension",
    )


def test_a_change_that_names_no_topic_leaves_an_empty_stack() -> None:
    assert conversation("diabetes", "Let's move on, different topic.").topics == ()


def test_a_follow_up_keeps_the_topic_of_the_question_before() -> None:
    stack = conversation("What's the diabetes prevalence?", "Break it down by age")
    assert stack.intents == (Intent("diabetes", 2),)


def test_a_follow_up_refreshes_only_what_it_follows() -> None:
    stack = conversation("diabetes", "asthma and COPD", "and for women?")
    assert stack.intents == (Intent("diabetes", 1), Intent("asthma", 3), Intent("COPD", 3))


def test_a_follow_up_of_what_has_expired_follows_nothing() -> None:
    assert conversation("diabetes", *["nice weather"] * 10, "break it down by age").topics == ()


def test_what_was_mentioned_above_a_clearance_is_not_seen_below_it() -> None:
    stack = IntentStack().push("diabetes", turn=1).push("asthma", turn=2, clearance=SECRET)
    assert stack.context_line(OPEN) == "Active conversation topics: diabetes"
    assert stack.context_line(Clearance(9)) == "Active conversation topics: diabetes"
    assert stack.context_line(SECRET) == "Active conversation topics: diabetes, asthma"


def test_a_secret_mention_does_not_keep_an_open_topic_alive_for_others() -> None:
    stack = IntentStack().push("diabetes", turn=1).push("diabetes", turn=9, clearance=SECRET).expired(12)
    assert stack.visible_topics(OPEN) == ()
    assert stack.visible_topics(SECRET) == ("diabetes",)


def test_an_open_mention_opens_a_topic_to_all() -> None:
    stack = IntentStack().push("diabetes", turn=1, clearance=SECRET).push("diabetes", turn=2)
    assert stack.intents == (Intent("diabetes", 2, OPEN),)


def test_an_open_follow_up_of_a_secret_topic_does_not_open_it() -> None:
    stack = IntentStack().push("diabetes", turn=1, clearance=SECRET).advance("break it down by age", 2, LEXICON, OPEN)
    assert stack.visible_topics(OPEN) == ()
    assert stack.intents == (Intent("diabetes", 2, SECRET),)


VIEWERS = [OPEN, Clearance(1), Clearance(3), Clearance(0, frozenset("x")), Clearance(2, frozenset("xyz"))]


def test_a_change_of_topic_above_ones_clearance_changes_nothing_for_oneself() -> None:
    stack = IntentStack().push("diabetes", turn=1).push("asthma", turn=1, clearance=SECRET)
    stack = stack.advance("Now let's look at hypertension", 2, LEXICON, SECRET)
    assert stack.visible_topics(OPEN) == ("diabetes",)
    assert "asthma" not in stack.visible_topics(SECRET)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 3), st.sets(st.sampled_from("xyz"))), max_size=40))
def test_the_stack_is_bounded_for_every_viewer_and_moved_only_by_what_the_viewer_may_see(
    pushes: list[tuple[str, int, set[str]]],
) -> None:
    stack = IntentStack()
    for turn, (topic, level, compartments) in enumerate(pushes):
        clearance = Clearance(level, frozenset(compartments))
        before = {viewer: stack.visible_topics(viewer) for viewer in VIEWERS}
        stack = stack.push(topic, turn=turn, clearance=clearance)
        assert stack.visible_topics(clearance)[-1] == topic
        for viewer in VIEWERS:
            assert len(stack.visible_topics(viewer)) <= 3
            if not viewer.covers(clearance):
                assert stack.visible_topics(viewer) == before[viewer]
    assert len(stack.intents) <= 24
    assert IntentStack.from_record(json.loads(json.dumps(stack.to_record()))) == stack


def test_an_open_viewer_sees_what_the_open_pushes_alone_would_show_unless_secret_topics_crowd_it_out() -> None:
    stack = (
        IntentStack().push("a", turn=1).push("b", turn=2).push("s", turn=3, clearance=SECRET).push("a", turn=4, clearance=SECRET)
    )
    assert stack.visible_topics(OPEN) == ("a", "b")
    assert stack.visible_topics(SECRET) == ("b", "s", "a")


@pytest.mark.parametrize(
    "record",
    [
        None,
        "diabetes",
        {"topic": "diabetes"},
        ["diabetes"],
        [{"topic": "diabetes", "turn": 1}],
        [{"topic": "", "turn": 1, "level": 0, "compartments": []}],
        [{"topic": "diabetes", "turn": "1", "level": 0, "compartments": []}],
        [{"topic": "diabetes", "turn": 1, "level": -1, "compartments": []}],
        [{"topic": "diabetes", "turn": 1, "level": 0, "compartments": [1]}],
    ],
)
def test_a_broken_record_is_refused(record: object) -> None:
    with pytest.raises(CorruptItemError):
        IntentStack.from_record(record)


@given(st.text(st.characters(exclude_categories=())), st.integers(1, 100))
def test_any_text_advances_the_stack(text: str, turn: int) -> None:
    assert len(IntentStack().advance(text, turn, LEXICON).topics) <= 3
