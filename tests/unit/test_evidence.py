import pytest

from tests.benchmarks.evidence import at_depth, interval, within
from tests.benchmarks.questions import Question

QUESTION = Question("q", "ann", "single-hop", "Where is the key?", frozenset({"a", "b"}))
TOKENS = {"a": 400, "b": 500, "c": 200}


def test_evidence_recall_is_the_share_of_the_evidence_among_the_first_hits() -> None:
    found = ["c", "a", *"defghijk", "b"]
    assert at_depth(QUESTION, found) == 0.5
    assert at_depth(QUESTION, found, 11) == 1.0
    assert at_depth(QUESTION, []) == 0.0


def test_a_context_ends_before_the_hit_that_does_not_fit() -> None:
    assert within(QUESTION, ["a", "c", "b"], TOKENS, 1000) == 0.5
    assert within(QUESTION, ["a", "b", "c"], TOKENS, 900) == 1.0
    assert within(QUESTION, ["b", "a"], TOKENS, 499) == 0.0


def test_an_interval_holds_the_mean_and_narrows_with_more_questions() -> None:
    low, high = interval([0.0, 1.0] * 20)
    assert low < 0.5 < high
    lower, higher = interval([0.0, 1.0] * 200)
    assert higher - lower < (high - low) / 2
    assert interval([1.0] * 5) == pytest.approx((1.0, 1.0))
