"""Evidence recall: how much of what answers a question was found, in the first hits or in as many as fit into a context."""

from collections.abc import Mapping, Sequence
from random import Random
from statistics import mean

from tests.benchmarks.questions import DataSet, Question

DEPTH = 10
BUDGETS = (1000, 2000)  # tokens
_RESAMPLES = 2000

# The turns that were found for each question, best first.
Answers = Mapping[str, Sequence[str]]


def at_depth(question: Question, found: Sequence[str], depth: int = DEPTH) -> float:
    """The share of the evidence among the first `depth` hits."""
    return len(question.evidence.intersection(found[:depth])) / len(question.evidence)


def within(question: Question, found: Sequence[str], tokens: Mapping[str, int], budget: int) -> float:
    """The share of the evidence among the first hits that fit into `budget` tokens together, each whole."""
    kept, spent = [], 0
    for turn_id in found:
        spent += tokens[turn_id]
        if spent > budget:
            break
        kept.append(turn_id)
    return at_depth(question, kept, len(kept))


def interval(values: Sequence[float], seed: int = 1) -> tuple[float, float]:
    """The middle 95 % of the mean over resampled questions."""
    chance = Random(seed)
    means = sorted(mean(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES) - 1]


def heads(data: DataSet) -> list[str]:
    """The columns of `row`."""
    categories = sorted({question.category for question in data.questions})
    return ["", f"recall@{DEPTH}", "95 %", *categories, "weakest user", *(f"{budget:,} tokens" for budget in BUDGETS)]


def row(name: str, data: DataSet, answers: Answers) -> list[str]:
    """What one way of finding reaches."""
    tokens = {turn.turn_id: turn.tokens for turn in data.turns()}
    scores = {question.question_id: at_depth(question, answers[question.question_id]) for question in data.questions}
    low, high = interval(list(scores.values()))
    categories = sorted({question.category for question in data.questions})
    of_category = [[scores[q.question_id] for q in data.questions if q.category == category] for category in categories]
    of_user = [[scores[q.question_id] for q in data.questions if q.user_id == user] for user in data.users]
    budgets = [[within(q, answers[q.question_id], tokens, budget) for q in data.questions] for budget in BUDGETS]
    return [
        name,
        f"{mean(scores.values()):.3f}",
        f"{low:.3f}-{high:.3f}",
        *(f"{mean(values):.3f}" for values in of_category),
        f"{min(mean(values) for values in of_user if values):.3f}",
        *(f"{mean(values):.3f}" for values in budgets),
    ]
