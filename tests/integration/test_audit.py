from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from keepsake import bootstrap
from keepsake.domain.hashing import KeyedHash
from keepsake.ports.item_store import Delete, Item, ItemStore, Key, Page, PageQuery, Put, Table
from keepsake.repositories.keys import Keys
from tests.fakes import FakeClock, FakeHashKeys
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


@pytest.mark.parametrize("junk", ["5", "null", '"abc"', "[1, 2]", '[["turn", 1]]', '{"turn": "1"}', '{"turn": true}', "{"])
@pytest.mark.parametrize("field", ["counts", "refs"])
def test_a_field_of_another_kind_is_named_and_not_stumbled_over(world: World, field: str, junk: str) -> None:
    lived_in(world)
    chain = chains_of(world)[1]
    item = world.store.query(PageQuery(Table.AUDIT, chain, 100)).items[1]
    world.store.transact([Put(replace(item, attributes={**item.attributes, field: junk}))])
    assert world.verify().json["broken"] == {"chain": chain, "sequence": 2, "fault": "changed"}


def test_a_dropped_tail_is_found_also_when_the_header_was_dropped_with_it(world: World) -> None:
    lived_in(world)
    chain = chains_of(world)[2]
    last = world.store.query(PageQuery(Table.AUDIT, chain, 100)).items[-1].key
    world.store.transact([Delete(last), Delete(Keys("ada", KEYED).header("s2"))])
    assert world.verify().json["broken"]["chain"] == chain


def test_a_header_that_was_given_another_chain_is_found(world: World) -> None:
    lived_in(world)
    header = Keys("ada", KEYED).header("s2")
    item = world.store.get_many([header])[header]
    world.store.transact([Put(replace(item, attributes={**item.attributes, "incarnation": "another"}))])
    assert world.verify().json["valid"] is False


def test_a_users_own_chain_that_was_dropped_whole_is_found(world: World) -> None:
    lived_in(world)
    chain = chains_of(world)[0]
    keys = [item.key for item in world.store.query(PageQuery(Table.AUDIT, chain, 100)).items]
    world.store.transact([*map(Delete, keys), Delete(Keys("ada", KEYED).chain_head())])
    assert world.verify().json["broken"] == {"chain": chain, "sequence": 1, "fault": "dropped"}


@pytest.mark.parametrize("sequence", [0, -3])
def test_an_entry_put_before_the_first_is_found(world: World, sequence: int) -> None:
    lived_in(world)
    chain = chains_of(world)[1]
    first = world.store.query(PageQuery(Table.AUDIT, chain, 100)).items[0]
    world.store.transact([Put(Item(Key(Table.AUDIT, chain, sequence), first.attributes))])
    assert world.verify().json["broken"] == {"chain": chain, "sequence": 1, "fault": "inserted"}


def test_a_chain_cut_with_its_head_set_back_is_found_also_when_it_has_grown_since(world: World) -> None:
    lived_in(world)
    head_key, chain = Keys("ada", KEYED).header("s2"), chains_of(world)[2]
    *_, before, last = world.store.query(PageQuery(Table.AUDIT, chain, 100)).items
    header = world.store.get_many([head_key])[head_key]
    back = {"chain_sequence": before.key.sort, "chain_hash": before.attributes["hash"]}
    world.store.transact([Delete(last.key), Put(replace(header, attributes={**header.attributes, **back}))])
    assert world.verify().json["broken"]["chain"] == chain
    world.clock.advance(minutes=-50)
    world.turn("s2", "and on it goes")
    assert world.verify().json["valid"] is False


class BusyStore:
    """A store in which somebody writes between any two reads of the audit."""

    def __init__(self, store: ItemStore) -> None:
        self._store = store
        self.write: Callable[[], object] | None = None

    def query(self, query: PageQuery) -> Page:
        page = self._store.query(query)
        write, self.write = self.write, None
        if write and query.table is Table.AUDIT:
            write()
            self.write = write
        return page

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_user_who_writes_during_a_verification_is_not_told_of_tampering(store: ItemStore, clock: FakeClock) -> None:
    busy = BusyStore(store)
    world = World(busy, clock)
    lived_in(world)
    sessions = iter(range(1000))

    def somebody_writes() -> None:
        clock.advance(minutes=20)
        for _ in range(3):
            world.turn("s1", "words")
        world.turn(f"new {next(sessions)}", "words")
        world.call("PUT /v1/profile", body={"interests": [f"topic {next(sessions)}"]})

    busy.write = somebody_writes
    for _ in range(4):
        found = world.verify().json
        assert (found["valid"], found["broken"]) == (True, None)
    busy.write = None
    assert world.verify().json["valid"] is True


def test_a_verification_without_time_goes_on_where_it_stopped(world: World) -> None:
    lived_in(world)
    found, position = 0, 0
    for _ in range(10):
        bootstrap.use(world.runtime)
        verification = world.runtime.verification.verify("ada", until_ms=0, skip=position)
        found += verification.chains - 1
        if verification.next is None:
            break
        position = verification.next
    assert (found, verification.broken) == (3, None)


def test_only_an_admin_verifies_another_user(world: World) -> None:
    lived_in(world)
    assert world.verify({"user_id": "ada"}, user="bob").json["code"] == "access_denied"
    for groups in ("[staff keepsake-admins]", "keepsake-admins", "[keepsake-admins]"):
        assert world.verify({"user_id": "ada"}, user="root", claims={"cognito:groups": groups}).json["valid"] is True
    for groups in ("[a,keepsake-admins b]", "my keepsake-admins", "keepsake-admins-not", "[]", ""):
        assert world.verify({"user_id": "ada"}, user="root", claims={"cognito:groups": groups}).status == 403


def test_the_audit_holds_no_words_and_no_id_that_a_caller_chose(world: World) -> None:
    canary = "canary-7f3a"
    world.turn(canary, canary, turn_id=canary, name=canary, user=canary)
    world.artifact("PUT", canary, {"content": canary, "kind": canary}, session=canary, user=canary)
    for chain in chains_of(world, canary):
        for item in world.store.query(PageQuery(Table.AUDIT, chain, 100)).items:
            assert canary not in str(item)
