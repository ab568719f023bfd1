from pathlib import Path

import pytest

from keepsake.adapters.embedding_hashing import HashingEmbedder
from keepsake.adapters.sqlite_store import SqliteItemStore
from local.calls import CountedEmbedder, CountedIndex, CountedStore, start_counting
from tests.fakes import FakeClock
from tests.fakes_index import DictSearchIndex
from tests.world import World

ORDINARY = "store=2 index=0 model=0 embed=0"


def test_a_turn_costs_two_round_trips_from_a_users_first_to_the_thousandth(tmp_path: Path) -> None:
    store = SqliteItemStore(tmp_path / "keepsake.db")
    world = World(CountedStore(store), FakeClock())
    for number in range(1000):
        if number % 200 == 199:
            world.clock.advance(minutes=60)
            world.consolidate()
        calls = start_counting()
        answer = world.turn(f"s{number // 150}", f"Word {number} on diabetes and metformin", turn_id=f"t{number}")
        assert (answer.status, str(calls)) == (200, ORDINARY), number
    store.close()


@pytest.mark.parametrize("pending", [0, 1, 5])
def test_a_recall_costs_one_question_to_the_index_and_one_more_to_the_store(tmp_path: Path, pending: int) -> None:
    store = SqliteItemStore(tmp_path / "keepsake.db")
    embedder = CountedEmbedder(HashingEmbedder())
    world = World(CountedStore(store), FakeClock(), index=CountedIndex(DictSearchIndex()), embedder=embedder)
    for number in range(40):
        world.turn(f"s{number // 10}", f"On day {number} we measured sample {number} in Bergen.")
    world.clock.advance(minutes=60)
    world.consolidate()
    for number in range(pending):
        world.turn(f"p{number}", "Sample 99 from Bergen has come.")
    for _ in range(3):
        calls = start_counting()
        assert world.recall("Which samples were measured in Bergen?").json["hits"]
        assert str(calls) == "store=2 index=1 model=0 embed=1"
        calls = start_counting()
        turn = world.turn("now", "Which samples did we measure in Bergen?", recall="always").json
        assert turn["recall"]["hits"]
        assert str(calls) == "store=3 index=1 model=0 embed=1"
        calls = start_counting()
        world.turn("now", "Thank you.", recall="never")
        world.turn("now", "You are welcome.", role="assistant")
        assert str(calls) == "store=4 index=0 model=0 embed=0"
    store.close()
