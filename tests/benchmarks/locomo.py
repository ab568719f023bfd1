"""How much of what answers a question is found: python -m tests.benchmarks.locomo [PATH] [--url URL --data FOLDER].

PATH is a folder or turns file as `questions.py` reads it (else what KEEPSAKE_BENCH_DATA names). Each conversation is one user.

1. In this process, the product's parts: an index filled with the turns (SQLite, and OpenSearch where OPENSEARCH_URL names a
   node), asked and ranked as recall does, beside plain BM25, vectors alone and their equal fusion.
2. Through the product: replay into a running service (one of its own, or that at --url on the data folder --data), one tick,
   and `POST /v1/recall` for every question. `--parts-only` leaves this out.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shared"))

from keepsake.adapters.embedding_local import local_embedder
from keepsake.adapters.learning_files import load_ranking_weights
from local.client import Client, Reply
from local.folder import LocalError, known_folder
from local.replay import progress, read_lines, replay
from local.tokens import TokenIssuer
from tests.benchmarks.evidence import Answers, heads, row
from tests.benchmarks.learn_ranking import crosswise
from tests.benchmarks.measuring import Sample, spread, table
from tests.benchmarks.questions import DataSet, NoDataError, by_user, load_data
from tests.benchmarks.retrieving import (
    HITS,
    Asked,
    KeptVectors,
    answers,
    ask,
    equally_fused,
    fill,
    plain_meaning,
    plain_words,
)
from tests.contract.indexes import opened
from tests.opensearch.node import URL
from tests.system.running import running

ROOT = Path(__file__).resolve().parents[2]
_TICK_READ_S = 3600
_BODY = {"kinds": ["turn"]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Both ways, printed as they come."""
    wishes = _wishes(arguments)
    try:
        data = load_data(wishes.path)
        print(
            f"{data.name}: {len(data.users)} users, {sum(1 for _ in data.turns())} turns, {len(data.questions)} questions",
            flush=True,
        )
        print(_by_parts(data, wishes.vectors), flush=True)
        if not wishes.parts_only:
            print(_through_product(data, wishes), flush=True)
    except (NoDataError, LocalError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _wishes(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.locomo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("path", nargs="?", type=Path, help="folder or turns file of the data")
    parser.add_argument("--vectors", type=Path, help="a file to keep vectors in, from one run to the next")
    parser.add_argument("--parts-only", action="store_true", help="only in this process, without the service")
    parser.add_argument("--url", help="a running service to go through, in place of one of its own")
    parser.add_argument("--data", type=Path, help="that service's data folder")
    wishes = parser.parse_args(arguments)
    if (wishes.url is None) != (wishes.data is None):
        parser.error("--url and --data belong together")
    return wishes


# ---- In this process


def _by_parts(data: DataSet, kept: Path | None) -> str:
    embedder, notice = local_embedder(ROOT / "local" / "models")
    vectors = KeptVectors(embedder, kept)
    rows: list[list[str]] = []
    for name in ("sqlite", *(["opensearch"] if os.environ.get(URL) else [])):
        with tempfile.TemporaryDirectory() as folder, opened(name, Path(folder)) as bench:
            fill(bench, data, vectors)
            asked = list(ask(bench.index, data.questions, vectors, time.time_ns() // 1_000_000))
        rows += [row(f"{name}: {way}", data, found) for way, found in _ways(asked).items()]
    title = f"In this process, vectors of {embedder.model.name}"
    return table(title, heads(data), rows) + (f"\n{notice}" if notice else "")


def _ways(asked: Sequence[Asked]) -> Mapping[str, Answers]:
    plain = {"BM25 of turns": plain_words, "vectors": plain_meaning, "the two fused equally": equally_fused}
    return {
        **{name: {each.question.question_id: way(each) for each in asked} for name, way in plain.items()},
        "ranked, weights learned on other conversations": crosswise(asked),
        "ranked, weights as they stand": answers(asked, load_ranking_weights()),
    }


# ---- Through the product


def _through_product(data: DataSet, wishes: argparse.Namespace) -> str:
    with _service(wishes) as (client, issuer):
        lines = read_lines(data.turns_file)
        bar = progress(len(lines))
        try:
            print(replay(lines, client, issuer.issue, on_turn=bar), flush=True)
        finally:
            bar.close()
        began = time.monotonic()
        ticking = client.as_user(issuer.issue_control()).patient(_TICK_READ_S)
        _accepted(ticking.call("POST", "/local/tick", {"run": "consolidation"}))
        print(f"one tick in {time.monotonic() - began:.0f} s", flush=True)
        found, sample = _recalled(data, client, issuer)
    rows = [row("POST /v1/recall", data, found)]
    times = table("Time of a recall, ms", ["", "p50", "p99"], [["POST /v1/recall", *spread(sample.wall)]])
    return table("Through the product", heads(data), rows) + "\n" + times


@contextmanager
def _service(wishes: argparse.Namespace) -> Iterator[tuple[Client, TokenIssuer]]:
    if wishes.url:
        yield Client(wishes.url, repeats=12), TokenIssuer(known_folder(wishes.data).token_key)
        return
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "service", KEEPSAKE_EMBEDDER="") as service:
        yield Client(service.url, repeats=12), service.issuer


def _recalled(data: DataSet, client: Client, issuer: TokenIssuer) -> tuple[Answers, Sample]:
    found: dict[str, Sequence[str]] = {}
    sample = Sample()
    for user, questions in by_user(data.questions).items():
        own = client.as_user(issuer.issue(user))
        for question in questions:
            deep = _accepted(own.call("POST", "/v1/recall", {"query": question.text, "limit": HITS, **_BODY}))
            asking = {"query": question.text, "limit": 10, **_BODY}
            first = sample.timed(lambda own=own, asking=asking: _accepted(own.call("POST", "/v1/recall", asking)))  # type: ignore[misc]
            top = _turn_ids(first)
            found[question.question_id] = [*top, *(turn for turn in _turn_ids(deep) if turn not in top)]
    return found, sample


def _turn_ids(reply: Reply) -> list[str]:
    return [turn_id for hit in reply.json["hits"] for turn_id in hit["source"]["turn_ids"]]


def _accepted(reply: Reply) -> Reply:
    if not reply.recognised().ok:
        raise LocalError(f"the service answered {reply.status}: {reply.reason}")
    return reply


if __name__ == "__main__":
    sys.exit(main())
