"""Learns the weights of ranking: python -m tests.benchmarks.learn_ranking [PATH] [--write].

Weights start from what was measured to hold on several data sets, and leave it only for what pays on whole conversations: each is
tried at a few multiples, and every step away costs a little. The figure that counts is of weights learned on the other
conversations. `--write` puts those learned on all of them into `shared/keepsake/data/ranking.toml`.
"""

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shared"))

from keepsake.adapters.embedding_local import local_embedder
from keepsake.adapters.learning_files import load_ranking_weights
from keepsake.domain.ranking_features import FEATURES, Scene
from keepsake.domain.ranking_weights import Feature, RankingWeights, parse_ranking_weights
from tests.benchmarks.evidence import Answers, heads, row
from tests.benchmarks.measuring import table
from tests.benchmarks.questions import DataSet, NoDataError, load_data
from tests.benchmarks.retrieving import Asked, KeptVectors, answers, ask, fill
from tests.contract.indexes import opened

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS_FILE = ROOT / "shared" / "keepsake" / "data" / "ranking.toml"

# Measured on three data sets of different kinds. Those after `date` cannot be learned here: old conversations without numbers
# or memories say nothing of them. They are small, so that they decide only between what is else about equal.
START: Mapping[Feature, float] = {
    Feature.MEANING: 0.6,
    Feature.WORDS: 0.1,
    Feature.WINDOW: 0.3,
    Feature.NEIGHBOURS: 0.1,
    Feature.SESSION: 0.05,
    Feature.SPEAKER: 0.15,
    Feature.DATE: 0.2,
    Feature.CODES: 0.05,
    Feature.RECENCY: 0.02,
    Feature.IMPORTANCE: 0.05,
}
HALF_LIFE_DAYS, REPEATED = 90.0, 0.2
LEARNED = (Feature.WORDS, Feature.WINDOW, Feature.NEIGHBOURS, Feature.SESSION, Feature.SPEAKER, Feature.DATE)  # beside meaning
_MULTIPLES = (0.5, 0.7, 1.0, 1.4, 2.0)
_DEPTHS = (8, 10, 13)  # around the depth that counts: one alone is jumpy
_STEP_COSTS = 0.005  # of the mean recall, for each weight that is halved or doubled
_ROUNDS = 2

Weights = dict[Feature, float]


@dataclass(frozen=True, slots=True)
class Measured:
    """A question's candidates: their features (a row each), and which of them are evidence."""

    user_id: str
    features: NDArray[np.float64]
    evidence: NDArray[np.bool_]
    wanted: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Learn, report, and write when told to."""
    wishes = _wishes(arguments)
    try:
        data = load_data(wishes.path)
    except NoDataError as error:
        print(error, file=sys.stderr)
        return 1
    asked = _asked(data, wishes.vectors)
    learned = weights_of(learn(measure(asked)))
    ways = {
        "as they stand": answers(asked, load_ranking_weights()),
        "start": answers(asked, weights_of(dict(START))),
        "learned on the others": crosswise(asked),
        "learned on all (seen)": answers(asked, learned),
    }
    print(table(f"Weights of ranking on {data.name}", heads(data), [row(name, data, found) for name, found in ways.items()]))
    print("\n" + _as_lines(learn(measure(asked))))
    if wishes.write:
        _write(learn(measure(asked)))
    return 0


def _wishes(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.learn_ranking", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("path", nargs="?", type=Path, help="folder or turns file of the development data")
    parser.add_argument("--vectors", type=Path, help="a file to keep vectors in, from one run to the next")
    parser.add_argument("--write", action="store_true", help="write the weights into the package's data file")
    return parser.parse_args(arguments)


def _asked(data: DataSet, kept: Path | None) -> list[Asked]:
    embedder, notice = local_embedder(ROOT / "local" / "models")
    if notice:
        print(notice, file=sys.stderr)
    vectors = KeptVectors(embedder, kept)
    with tempfile.TemporaryDirectory() as folder, opened("sqlite", Path(folder)) as bench:
        fill(bench, data, vectors)
        return list(ask(bench.index, data.questions, vectors, time.time_ns() // 1_000_000))


def crosswise(asked: Sequence[Asked]) -> Answers:
    """What is found in each conversation with weights that were learned on the others only."""
    measured = measure(asked)
    found: dict[str, Sequence[str]] = {}
    for user in sorted({each.user_id for each in measured}):
        weights = weights_of(learn([each for each in measured if each.user_id != user]))
        found.update(answers([each for each in asked if each.question.user_id == user], weights))
    return found


def measure(asked: Sequence[Asked]) -> list[Measured]:
    """The features of every question's candidates. Where one needs the weights of others, they are the start's."""
    weights = weights_of(dict(START))
    measured = []
    for each in asked:
        found = each.found
        scene = Scene(each.query, sorted(found.candidates, key=lambda one: one.document_id), found.turn, found.window, weights)
        features = np.array([FEATURES[feature](scene) for feature in Feature], dtype=np.float64).T
        evidence = np.array([one.ref in each.question.evidence for one in scene.candidates], dtype=np.bool_)
        measured.append(Measured(each.question.user_id, features, evidence, len(each.question.evidence)))
    return measured


def learn(measured: Sequence[Measured]) -> Weights:
    """Weights that find more than the start's, each a few steps from it at most."""
    weights = dict(START)
    for _ in range(_ROUNDS):
        for feature in LEARNED:
            tried = [{**weights, feature: START[feature] * multiple} for multiple in _MULTIPLES]
            weights = max(tried, key=lambda each: worth(each, measured))
    return weights


def worth(weights: Weights, measured: Sequence[Measured]) -> float:
    """Mean recall over conversations and depths, less what the steps away from the start cost."""
    column = np.array([weights[feature] for feature in Feature])
    by_user: dict[str, list[float]] = {}
    for each in measured:
        order = np.argsort(-(each.features @ column), kind="stable")
        hits = np.cumsum(each.evidence[order])
        reached = mean(int(hits[min(depth, len(hits)) - 1]) for depth in _DEPTHS) / each.wanted if len(hits) else 0.0
        by_user.setdefault(each.user_id, []).append(reached)
    steps = sum(abs(log2(weights[feature] / START[feature])) for feature in LEARNED)
    return mean(map(mean, by_user.values())) - _STEP_COSTS * steps


def weights_of(weights: Weights) -> RankingWeights:
    """As ranking takes them."""
    return parse_ranking_weights({"weights": dict(weights), "half_life_days": HALF_LIFE_DAYS, "repeated": REPEATED})


def _as_lines(weights: Weights) -> str:
    return "\n".join(f"{feature} = {round(weights[feature], 3)}" for feature in Feature)


def _write(weights: Weights) -> None:
    """The numbers are replaced; what the file says about them stays."""
    content = WEIGHTS_FILE.read_text(encoding="utf-8")
    for feature in Feature:
        content = re.sub(rf"(?m)^({feature} = )[0-9.]+", rf"\g<1>{round(weights[feature], 3)}", content)
    WEIGHTS_FILE.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
