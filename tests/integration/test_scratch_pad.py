from tests.world import World


def test_an_artifact_is_put_read_changed_and_removed(world: World) -> None:
    world.turn()
    first = world.artifact("PUT", body={"content": "SELECT 1", "kind": "sql"})
    assert (first.status, first.json["version"]) == (200, 1)
    assert world.artifact("PUT", body={"content": "SELECT 2", "kind": "sql"}).json["version"] == 2
    assert world.artifact("GET").json["content"] == "SELECT 2"
    assert world.session().json["scratchpad"] == [world.artifact("GET").json]
    assert "SELECT 2" in world.turn().json["context"]["text"]
    assert world.artifact("DELETE").status == 204
    assert world.artifact("GET").json["code"] == "artifact_not_found"


def test_artifacts_of_any_name_are_kept_apart(world: World) -> None:
    world.turn()
    names = ["a", "a/b", "ร่าง", "#/|=&* ", "🙂"]
    for name in names:
        assert world.artifact("PUT", name, {"content": f"of {name}"}).status == 200
    assert [world.artifact("GET", name).json["content"] for name in names] == [f"of {name}" for name in names]


def test_a_stale_version_is_refused_and_nothing_is_lost(world: World) -> None:
    world.turn()
    world.artifact("PUT", body={"content": "one"})
    refused = world.artifact("PUT", body={"content": "two", "version": 0})
    assert (refused.status, refused.json["code"]) == (409, "stale_version")
    assert world.artifact("GET").json["content"] == "one"


def test_an_artifact_that_is_too_large_is_refused(world: World) -> None:
    world.turn()
    refused = world.artifact("PUT", body={"content": "x" * 40_000})
    assert (refused.status, refused.json["code"]) == (413, "artifact_too_large")


def test_a_scratch_pad_ends_with_its_session(world: World) -> None:
    assert world.artifact("PUT", body={"content": "x"}).json["code"] == "session_not_found"
    world.turn()
    world.artifact("PUT", body={"content": "x"})
    world.clock.advance(minutes=45)
    assert world.artifact("GET").json["code"] == "session_expired"
    world.turn()
    assert world.artifact("GET").json["code"] == "artifact_not_found"


def test_an_artifact_above_the_readers_clearance_is_nowhere_to_be_seen(world: World) -> None:
    high = {"clearance": "3"}
    world.turn()
    put = world.artifact("PUT", body={"content": "SECRET", "clearance": 2}, claims=high)
    assert put.json["clearance"] == {"level": 2, "compartments": []}
    assert world.artifact("GET").json["code"] == "artifact_not_found"
    assert world.artifact("DELETE").json["code"] == "artifact_not_found"
    assert world.artifact("PUT", body={"content": "mine"}).json["code"] == "artifact_not_found"
    assert world.session().json["scratchpad"] == []
    assert "SECRET" not in world.turn().json["context"]["text"]
    assert "SECRET" in world.turn(claims=high).json["context"]["text"]
    assert world.artifact("PUT", "other", {"content": "x", "clearance": 1}).json["code"] == "clearance_exceeded"


def test_another_user_finds_no_artifact_of_the_same_session_id(world: World) -> None:
    world.turn()
    world.artifact("PUT", body={"content": "mine"})
    world.turn(user="bob")
    assert world.artifact("GET", user="bob").status == 404
