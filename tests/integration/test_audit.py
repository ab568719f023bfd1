from dataclasses import replace

import pytest

from keepsake.domain.hashing import KeyedHash
from keepsake.ports.item_store import Delete, Item, Key, PageQuery, Put, Table
from keepsake.repositories.keys import Keys
from tests.fakes import FakeHashKeys
from tests.world import World

KEYED = KeyedHash(*FakeHashKeys().current())


def chains_of(world: World, user: str = "ada") -> list[str]:
    """The user's chain, and those of the sessions it opened."""
    own = Keys(user, KEYED).user_chain()
    entries = world.store.query(PageQuery(Table.AUDIT, own, 100)).items
    opened = [str(item.attributes["refs"]).split('"')[3] for item in entries if item.attributes["action"] == "session.opened"]
    return [own, *opened]


def lived_in(world: World) -> None:
    """Two sessions, one of them opened again after it had expired."""
    for number in range(4):
        world.turn("s1", f"number {number}")
        world.turn("s2", f"number {number}")
    world.clock.advance(minutes=60)
    world.turn("s1", "after the break")
    world.artifact("PUT", body={"content": "x"})
    world.call("PUT /v1/profile", body={"interests": ["oncology"]})


def test_a_life_of_ordinary_writes_verifies(world: World) -> None:
    lived_in(world)
    found = world.verify().json
    assert (found["valid"], found["complete"], found["broken"]) == (True, True, None)
    assert found["chains"] == 4
    assert found["entries"] == 5 + 4 + 4 + 2


def test_a_user_without_any_entry_verifies(world: World) -> None:
    assert world.verify(user="nobody-yet").json == {
        "valid": True,
        "complete": True,
        "chains": 1,
        "entries": 0,
        "broken": None,
        "next": None,
    }


@pytest.mark.parametrize("place", [1, 2, -1])
@pytest.mark.parametrize("chain_number", [0, 1, 2, 3])
def test_a_tampered_entry_of_any_chain_is_named(world: World, chain_number: int, place: int) -> None:
    lived_in(world)
    chain = chains_of(world)[chain_number]
    items = world.store.query(PageQuery(Table.AUDIT, chain, 100)).items
    item = items[place] if place < len(items) else items[-1]
    world.store.transact([Put(replace(item, attributes={**item.attributes, "at": 1}))])
    broken = world.verify().json["broken"]
    assert broken == {"chain": chain, "sequence": item.key.sort, "fault": "changed"}


@pytest.mark.parametrize("chain_number", [0, 1, 2, 3])
def test_a_dropped_last_entry_of_any_chain_is_named(world: World, chain_number: int) -> None:
    lived_in(world)
    chain = chains_of(world)[chain_number]
    last = world.store.query(PageQuery(Table.AUDIT, chain, 100)).items[-1].key
    world.store.transact([Delete(last)])
    assert world.verify().json["broken"] == {"chain": chain, "sequence": last.sort, "fault": "dropped"}


def test_swapped_entries_are_named(world: World) -> None:
    lived_in(world)
    chain = chains_of(world)[1]
    one, two = world.store.query(PageQuery(Table.AUDIT, chain, 100)).items[1:3]
    world.store.transact([Put(Item(one.key, two.attributes)), Put(Item(two.key, one.attributes))])
    assert world.verify().json["broken"] == {"chain": chain, "sequence": 2, "fault": "reordered"}


def test_an_entry_put_behind_the_last_one_is_named(world: World) -> None:
    lived_in(world)
    chain = chains_of(world)[1]
    last = world.store.query(PageQuery(Table.AUDIT, chain, 100)).items[-1]
    world.store.transact([Put(Item(Key(Table.AUDIT, chain, int(last.key.sort) + 1), last.attributes))])
    broken = world.verify().json["broken"]
    assert (broken["chain"], broken["sequence"]) == (chain, int(last.key.sort) + 1)


def test_an_entry_that_does_not_even_read_back_is_named(world: World) -> None:
    lived_in(world)
    chain = chains_of(world)[0]
    world.store.transact([Put(Item(Key(Table.AUDIT, chain, 2), {"junk": "x"}))])
    assert world.verify().json["broken"] == {"chain": chain, "sequence": 2, "fault": "changed"}


def test_only_an_admin_verifies_another_user(world: World) -> None:
    lived_in(world)
    assert world.verify({"user_id": "ada"}, user="bob").json["code"] == "access_denied"
    admin = {"cognito:groups": "[staff keepsake-admins]"}
    assert world.verify({"user_id": "ada"}, user="root", claims=admin).json["valid"] is True


def test_the_audit_holds_no_words_and_no_id_that_a_caller_chose(world: World) -> None:
    canary = "canary-7f3a"
    world.turn(canary, canary, turn_id=canary, name=canary, user=canary)
    world.artifact("PUT", canary, {"content": canary, "kind": canary}, session=canary, user=canary)
    for chain in chains_of(world, canary):
        for item in world.store.query(PageQuery(Table.AUDIT, chain, 100)).items:
            assert canary not in str(item)
