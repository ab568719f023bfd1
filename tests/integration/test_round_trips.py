from pathlib import Path

from keepsake.adapters.sqlite_store import SqliteItemStore
from local.calls import CountedStore, start_counting
from tests.fakes import FakeClock
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
