"""How well the recall gate decides: python -m tests.benchmarks.gate [--wrong].

On the given turns and on more of the same kinds: with the weights as they are, with weights learned from four fifths and used on
the fifth, with weights learned from all other languages, and with weights learned from one set and used on the other.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shared"))

from keepsake.adapters.learning_files import load_recall_gate
from tests.benchmarks.learn_gate import (
    FRESH,
    GIVEN,
    MORE,
    Example,
    Floats,
    cross_validated,
    learn,
    load_examples,
    random_folds,
    weigh,
)
from tests.benchmarks.measuring import table

REPEATS = 3
HEADS = ("", "searched, as needed", "searched in vain")


def judged(examples: Sequence[Example], weighed: Floats, chosen: Callable[[Example], bool] = lambda _: True) -> list[str]:
    """Of the chosen turns, how many were searched for: of those that need the past, and of the others."""
    pairs = [(example.needs_recall, weight > 0) for example, weight in zip(examples, weighed, strict=True) if chosen(example)]
    needing, others = ([searched for needs, searched in pairs if needs is wanted] for wanted in (True, False))
    return [_share(needing), _share(others)]


def _share(searched: Sequence[bool]) -> str:
    return f"{sum(searched) / len(searched):6.1%} of {len(searched)}" if searched else "-"


def by_folds(examples: Sequence[Example]) -> Floats:
    """Five folds, several times; the mean of what a turn weighs."""
    runs = [cross_validated(examples, random_folds(len(examples), seed)) for seed in range(REPEATS)]
    mean: Floats = np.mean(runs, axis=0)
    return mean


def by_language(examples: Sequence[Example]) -> Floats:
    """Each language by what was learned from the others."""
    folds = [[at for at, each in enumerate(examples) if each.language == language] for language in _languages(examples)]
    return cross_validated(examples, folds)


def _languages(examples: Sequence[Example]) -> list[str]:
    return sorted({example.language for example in examples})


def _set(name: str) -> Callable[[Example], bool]:
    return lambda example: example.source == name


def _language(name: str) -> Callable[[Example], bool]:
    return lambda example: example.language == name


def _kind(name: str) -> Callable[[Example], bool]:
    return lambda example: example.kind == name


def _ways(examples: Sequence[Example], weighed: Floats) -> list[list[str]]:
    given, more, fresh = ([each for each in examples if each.source == name] for name in (GIVEN, MORE, FRESH))
    leaving_out = by_language(examples)
    return [
        ["given turns, plain", *judged(given, weigh(given, learn(examples)))],
        ["given turns, cross-validated", *judged(examples, weighed, _set(GIVEN))],
        ["given turns, language left out", *judged(examples, leaving_out, _set(GIVEN))],
        ["given turns, learned from the others", *judged(given, weigh(given, learn([*more, *fresh])))],
        ["more turns, plain", *judged(more, weigh(more, learn(examples)))],
        ["more turns, cross-validated", *judged(examples, weighed, _set(MORE))],
        ["more turns, language left out", *judged(examples, leaving_out, _set(MORE))],
        ["more turns, learned from the given", *judged(more, weigh(more, learn(given)))],
        ["fresh turns, plain", *judged(fresh, weigh(fresh, learn(examples)))],
        ["fresh turns, cross-validated", *judged(examples, weighed, _set(FRESH))],
        ["fresh turns, language left out", *judged(examples, leaving_out, _set(FRESH))],
        ["fresh turns, learned from the others", *judged(fresh, weigh(fresh, learn([*given, *more])))],
    ]


def _milliseconds_a_turn(examples: Sequence[Example]) -> float:
    gate = load_recall_gate()
    start = time.process_time()
    for example in examples:
        gate.intent(example.text)
    return (time.process_time() - start) * 1000 / len(examples)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="list the turns that cross-validation gets wrong")
    wrong = parser.parse_args().wrong
    examples = load_examples()
    weighed = by_folds(examples)
    print(table("Recall gate", HEADS, _ways(examples, weighed)))
    groups = [[name, *judged(examples, weighed, _language(name))] for name in _languages(examples)]
    kinds = sorted({(not each.needs_recall, each.kind) for each in examples})
    groups += [[name, *judged(examples, weighed, _kind(name))] for _, name in kinds]
    print(table("Cross-validated, by language and by kind", HEADS, groups))
    print(f"\n{_milliseconds_a_turn(examples):.3f} ms of CPU a turn")
    if wrong:
        for example, weight in zip(examples, weighed, strict=True):
            if (weight > 0) != example.needs_recall:
                print(f"{weight:5.1f} {example.language} {example.kind:18} {example.text!r}")


if __name__ == "__main__":
    main()
