"""Learns the weights of the recall gate: python -m tests.benchmarks.learn_gate [--write].

A logistic regression over the features of all labelled turns, held small by an L2 penalty. A turn stands for the one of its
readings that weighs most, so learning and choosing alternate. `--write` puts the weights into `recall_patterns.toml`.
"""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shared"))

from keepsake.adapters.learning_files import load_recall_gate
from keepsake.domain.recall_intent.features import FEATURES

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS_FILE = ROOT / "shared" / "keepsake" / "data" / "recall_patterns.toml"
DATA_FOLDER = ROOT / "tests" / "data"
GIVEN, MORE, FRESH = "recall_turns.jsonl", "recall_turns_more.jsonl", "recall_turns_fresh.jsonl"
SOURCES = (GIVEN, MORE, FRESH)

PENALTY = 4.0
TOWARDS_SEARCHING = 0.7  # added to the bias: unseen turns show fewer cues, and a search too few costs the memory
_BIAS_PENALTY = 0.01
_ROUNDS = 3
_STEPS = 30

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """One labelled turn. `readings` has a row for each reading and a column for each feature, and one of ones for the bias."""

    language: str
    kind: str
    source: str
    needs_recall: bool
    text: str
    readings: Floats


def load_examples() -> list[Example]:
    """All labelled turns of the tests' data, read by the gate."""
    return [
        _example(json.loads(line), source)
        for source in SOURCES
        for line in (DATA_FOLDER / source).read_text(encoding="utf-8").splitlines()
    ]


def _example(row: dict[str, object], source: str) -> Example:
    earlier = row.get("context", [])
    assert isinstance(earlier, list)
    readings = load_recall_gate().readings(str(row["text"]), earlier) or [("code",)]
    matrix = np.array([[name in seen for name in FEATURES] + [True] for seen in readings], dtype=np.float64)
    return Example(str(row["lang"]), str(row["kind"]), source, bool(row["needs_recall"]), str(row["text"]), matrix)


def learn(examples: Sequence[Example]) -> Floats:
    """The weights of the features and, last, the bias."""
    wanted = np.array([example.needs_recall for example in examples], dtype=np.float64)
    weights = np.zeros(len(FEATURES) + 1)
    for number in range(_ROUNDS):
        rows = [example.readings.max(0) if number == 0 else _strongest(example, weights) for example in examples]
        weights = _fitted(np.array(rows), wanted, weights)
    weights[-1] += TOWARDS_SEARCHING
    return weights


def _strongest(example: Example, weights: Floats) -> Floats:
    row: Floats = example.readings[int(np.argmax(example.readings @ weights))]
    return row


def _fitted(rows: Floats, wanted: Floats, start: Floats) -> Floats:
    weights = start.copy()
    penalty = np.full(rows.shape[1], PENALTY)
    penalty[-1] = _BIAS_PENALTY
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (chance - wanted) + penalty * weights
        curve = (rows * (chance * (1 - chance))[:, None]).T @ rows + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-4:
            break
    return weights


def weigh(examples: Sequence[Example], weights: Floats) -> Floats:
    """How much each turn weighs: above zero it asks for the past."""
    return np.array([float((example.readings @ weights).max()) for example in examples])


def cross_validated(examples: Sequence[Example], folds: Sequence[Sequence[int]]) -> Floats:
    """What each turn weighs by weights that were learned from the other folds."""
    weighed = np.zeros(len(examples))
    for fold in folds:
        held = set(fold)
        weights = learn([example for at, example in enumerate(examples) if at not in held])
        weighed[list(fold)] = weigh([examples[at] for at in fold], weights)
    return weighed


def random_folds(count: int, seed: int, folds: int = 5) -> list[list[int]]:
    """A split of `count` examples into folds of about equal size."""
    order = np.random.default_rng(seed).permutation(count).tolist()
    return [order[start::folds] for start in range(folds)]


def _write(weights: Floats) -> None:
    lines = [f"bias = {weights[-1]:.2f}", *(f"{name} = {weight:.2f}" for name, weight in zip(FEATURES, weights, strict=False))]
    text = WEIGHTS_FILE.read_text(encoding="utf-8")
    body = "\n".join(lines)
    WEIGHTS_FILE.write_text(re.sub(r"(?s)\[weights\]\n.*", lambda _: f"[weights]\n{body}\n", text), encoding="utf-8")


def main() -> None:
    """Learn, and print or write what was learned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the weights into the data file")
    write = parser.parse_args().write
    weights = learn(load_examples())
    for name, weight in sorted(zip((*FEATURES, "bias"), weights, strict=True), key=lambda pair: pair[1]):
        print(f"{weight:6.2f}  {name}")
    if write:
        _write(weights)


if __name__ == "__main__":
    main()
