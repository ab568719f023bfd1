"""Learning and recall over HTTP: what was said is known after a tick, found, and survives kills, lost files and old folders."""

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from local.client import Client, NoServiceError, Reply
from tests.system.running import Service, assert_one_line, local, running

pytestmark = pytest.mark.sockets

SAID = ("I live in Oslo.", "My sister Maria plays the violin.", "I work as a nurse.")


def say(client: Client, session: str, *words: str) -> None:
    for text in words:
        assert client.post_turn(session, {"role": "user", "content": text}).ok


def texts(client: Client, query: str, **more: object) -> list[str]:
    found = client.recall(query, **more)
    assert found.status == 200, found.reason
    assert not found.json["degraded"]
    return [hit["text"] for hit in found.json["hits"]]


def values(client: Client, **query: object) -> dict[str, str]:
    return {memory["attribute"]: memory["value"] for memory in client.list_memories(**query).json["memories"]}


def drift(service: Service, user: str) -> dict[str, Any]:
    return service.admin().check_drift(user).json


def texts_of(reply: Reply) -> list[str]:
    return [hit["text"] for hit in reply.json["hits"]]


def test_what_was_said_is_recalled_at_once_and_known_after_a_tick(service: Service, user: str) -> None:
    client = service.client(user)
    say(client, "monday", *SAID)
    assert texts(client, "Where do I live?", kinds=["turn"])[0] == "I live in Oslo."
    assert values(client) == {}
    service.tick()
    assert values(client)["home"] == "Oslo"
    assert values(client)["occupation"] == "nurse"
    reply = client.recall("Where do I live?", kinds=["memory", "turn"])
    assert reply.headers["x-keepsake-calls"] == "store=2 index=1 model=0 embed=1"
    hit = next(hit for hit in reply.json["hits"] if hit["kind"] == "memory")
    assert (hit["text"], hit["source"]["session_id"]) == ("home: Oslo", "monday")
    assert sum(hit["parts"].values()) == pytest.approx(hit["score"], abs=0.001)
    turn = client.post_turn("tuesday", {"role": "user", "content": "What do you know about me?"})
    assert turn.headers["x-keepsake-calls"] == "store=2 index=0 model=0 embed=0"
    assert "home: Oslo" in turn.json["context"]["text"]


def test_another_user_recalls_and_knows_nothing_of_it(service: Service, user: str) -> None:
    say(service.client(user), "monday", *SAID)
    service.tick()
    stranger = service.client(f"{user}0")
    assert texts(stranger, "Where do I live?") == []
    assert values(stranger) == {}
    (memory, *_) = service.client(user).list_memories().json["memories"]
    refused = [
        stranger.get_memory(memory["memory_id"]),
        stranger.get_history(memory["memory_id"]),
        stranger.correct_memory(memory["memory_id"], {"value": "Rome"}),
        stranger.confirm_memory(memory["memory_id"], confirmed=False),
        stranger.forget_memory(memory["memory_id"]),
    ]
    assert [(reply.status, reply.code) for reply in refused] == [(404, "memory_not_found")] * 5


def test_a_memory_is_told_corrected_confirmed_and_forgotten_over_http(sqlite_service: Service, user: str) -> None:
    client = sqlite_service.client(user)
    told = client.tell_memory({"type": "fact", "attribute": "home", "value": "Oslo"})
    assert (told.status, told.json["made_by"]) == (201, "user")
    moved = client.correct_memory(told.json["memory_id"], {"value": "Rome"}).json
    assert client.get_memory(moved["memory_id"]).json["value"] == "Rome"
    assert client.confirm_memory(moved["memory_id"], confirmed=True).json["confirmed"]
    assert {memory["value"] for memory in client.get_history(moved["memory_id"]).json["memories"]} == {"Oslo", "Rome"}
    sqlite_service.tick()
    assert "home: Rome" in texts(client, "Where is home?")
    assert client.forget_memory(moved["memory_id"]).status == 204
    sqlite_service.tick()
    assert "home: Rome" not in texts(client, "Where is home?")
    assert client.get_memory(moved["memory_id"]).status == 404


def test_a_document_is_kept_found_replaced_and_removed_over_http(sqlite_service: Service, user: str) -> None:
    client = sqlite_service.client(user)
    kept = client.put_document({"title": "Bees", "text": "The hive stands behind the barn."})
    assert kept.status == 201
    document_id = kept.json["document_id"]
    sqlite_service.tick()
    assert texts(client, "Where is the hive?", kinds=["document"]) == ["The hive stands behind the barn."]
    again = {"document_id": document_id, "title": "Bees", "text": "The hive was moved to the orchard."}
    assert client.put_document(again).status == 200
    sqlite_service.tick()
    assert texts(client, "Where is the hive?", kinds=["document"]) == ["The hive was moved to the orchard."]
    assert client.get_document(document_id).json["text"] == "The hive was moved to the orchard."
    assert client.delete_document(document_id).status == 204
    sqlite_service.tick()
    assert texts(client, "Where is the hive?", kinds=["document"]) == []
    assert client.get_document(document_id).status == 404


def test_the_recall_command_prints_hits_in_lines(sqlite_service: Service, user: str) -> None:
    say(sqlite_service.client(user), "monday", "My cat is called\n\x1b[31mMochi.")
    done = local("recall", user, "What is my cat called?", "--data", str(sqlite_service.data), "--url", sqlite_service.url)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.endswith("My cat is called [31mMochi.")
    assert " turn, " in line


def test_only_an_admin_reindexes_and_checks_for_drift(sqlite_service: Service, user: str) -> None:
    client = sqlite_service.client(user)
    for refused in (client.start_reindex(), client.get_reindex("job"), client.check_drift(user)):
        assert (refused.status, refused.code) == (403, "access_denied")
    assert sqlite_service.admin().get_reindex("job").status == 404


def test_a_kill_during_consolidation_leaves_each_turn_learned_once(data: Path) -> None:
    sessions = [f"session-{number}" for number in range(12)]
    with running(data) as service:
        client = service.client("ann")
        for number, session in enumerate(sessions):
            say(client, session, f"My friend number{number} plays chess.", *SAID)
        control = Client(service.url, service.issuer.issue_control())
        ticking = threading.Thread(target=_ticked, args=(control,))
        ticking.start()
        while not values(client):
            time.sleep(0.01)
        service.kill()
        ticking.join(20)
        assert not ticking.is_alive()
    with running(data) as again:
        assert again.tick()["ConsolidationQueue"] == {"waiting": 0, "in_flight": 0, "dead": 0}
        client = again.client("ann")
        memories = client.list_memories(limit=200).json["memories"]
        known = [memory for memory in memories if memory["attribute"] in ("home", "occupation")]
        counts = {memory["value"]: memory["reference_count"] for memory in known}
        assert counts == {"Oslo": len(sessions), "nurse": len(sessions)}
        found = drift(again, "ann")
        assert [found[name] for name in found if name.endswith(("_pointer", "_document"))] == [0, 0, 0]
        assert found["documents"] == found["pointers"]
        assert again.tick()["consolidation"]["sent"] == 0
        assert client.verify_audit().json["valid"]


def _ticked(control: Client) -> None:
    try:
        control.call("POST", "/local/tick", {"run": "all"})
    except NoServiceError:
        return  # it was killed


def test_a_lost_index_is_filled_anew_and_a_lost_queue_is_planned_anew(data: Path) -> None:
    with running(data) as service:
        say(service.client("ann"), "monday", *SAID)
        service.tick()
        before = drift(service, "ann")
        say(service.client("ann"), "tuesday", "My brother Tom lives in Bergen.")
        assert service.stop() == 0
    for name in ("index.db", "queue.db"):
        (data / name).unlink()
    with running(data) as again:
        assert any("index.db was lost" in said for said in again.said)
        ticked = again.tick()
        assert ticked["index"]["left"] == 0
        assert drift(again, "ann")["documents"] > before["documents"]
        assert texts(again.client("ann"), "Where do I live?", kinds=["turn"])[0] == "I live in Oslo."
        assert texts(again.client("ann"), "Where does Tom live?", kinds=["turn"])[0] == "My brother Tom lives in Bergen."
        assert again.tick()["index"] == {"repaired": 0, "left": 0}
        assert not (data / "index-lost").exists()


def test_a_folder_of_before_there_was_an_index_goes_on(data: Path) -> None:
    with running(data) as service:
        say(service.client("ann"), "monday", *SAID)
        assert service.stop() == 0
    for name in ("index.db", "queue.db"):
        (data / name).unlink()
    with closing(sqlite3.connect(data / "keepsake.db")) as database, database:
        # What such a folder has not: lists of what waits.
        database.execute("DELETE FROM LongTermMemory WHERE item NOT LIKE 'session#%'")
    with running(data) as again:
        assert not any("was lost" in said for said in again.said)
        again.tick()
        assert values(again.client("ann"))["home"] == "Oslo"
        assert texts(again.client("ann"), "Where do I live?", kinds=["turn"])[0] == "I live in Oslo."


def test_an_index_that_does_not_answer_is_said_and_turns_go_on(data: Path) -> None:
    with running(data, OPENSEARCH_URL="http://127.0.0.1:1") as service:
        assert any("No search index answers at OPENSEARCH_URL" in said for said in service.said)
        client = service.client("ann")
        say(client, "monday", *SAID)
        asked = client.post_turn("tuesday", {"role": "user", "content": "Where do I live?"})
        assert asked.status == 200
        assert asked.json["recall"]["degraded"]
        assert "I live in Oslo." in asked.json["context"]["text"]
        done = local("tick", "--data", str(data), "--url", service.url)
        assert done.returncode == 1
        assert_one_line(done.stderr, "503", "consolidation stopped, since the search index does not answer")
        assert "I live in Oslo." in texts_of(client.recall("Where do I live?"))


def test_another_embedding_model_waits_for_a_reindex_and_the_real_one_finds_by_meaning(data: Path) -> None:
    with running(data) as service:
        say(service.client("ann"), "monday", *SAID)
        service.tick()
        assert service.stop() == 0
    with running(data, KEEPSAKE_EMBEDDER="") as again:
        if any("simpler embedder" in said for said in again.said):
            pytest.skip("the local embedding model's runtime is not installed")
        client, where = again.client("ann"), ("--data", str(data), "--url", again.url)
        say(client, "tuesday", "The physician told me to rest.")
        refused = local("tick", *where)
        assert (refused.returncode, "needs_reindex=true" in refused.stdout) == (1, True)
        assert_one_line(refused.stderr, "python -m local reindex")
        assert texts_of(client.recall("Where do I live?", kinds=["turn"]))[0] == "I live in Oslo."  # reads go on
        done = local("reindex", *where)
        assert done.returncode == 0, done.stderr
        assert "complete, done=" in done.stdout
        assert local("tick", *where).returncode == 0
        assert texts(client, "doctor's advice", kinds=["turn"])[0] == "The physician told me to rest."
