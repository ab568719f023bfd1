"""The command line, as a person meets it: what it prints, what it refuses, how it stops."""

import json
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import jwt
import pytest

from keepsake.adapters.hash_keys import FileHashKeys
from local.cli import main
from local.folder import open_folder
from local.tokens import API_AUDIENCE
from tests.system.running import ROOT, Service, assert_one_line, local, running

pytestmark = pytest.mark.sockets


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_token_prints_a_token_and_nothing_else(data: Path) -> None:
    open_folder(data)
    made = local(
        "token", "研究者", "--admin", "--clearance", "2", "--compartment", "a", "--compartment", "b", "--data", str(data)
    )
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.count("\n") == 1
    claims = jwt.decode(made.stdout.strip(), (data / "token-key").read_bytes(), ["HS256"])
    assert (claims["sub"], claims["client_id"], claims["clearance"], claims["compartments"]) == ("研究者", API_AUDIENCE, 2, "a b")
    assert claims["cognito:groups"] == ["keepsake-admins"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("token", ""),
        ("token", "a\tb"),
        ("token", "a", "--clearance", "-1"),
        ("token", "a", "--clearance", "1000000000"),
        ("token", "a", "--compartment", "two words"),
        ("token", "a", "--ttl", "soon"),
        ("token", "a", "--ttl", "-5m"),
        ("clock", "advance", "x"),
        ("clock", "advance", "-5m"),
        ("clock", "show", "--url", "nonsense"),
        ("tick", "--url", ""),
        ("demo", "--url", "http://"),
        ("serve", "--cors-origin", "nonsense"),
        ("serve", "--cors-origin", "https://page.example/"),
        ("serve", "--data", ""),
        ("recall", "", "words"),
    ],
)
def test_what_makes_no_sense_is_one_line(data: Path, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    open_folder(data)
    named = () if "--data" in arguments else ("--data", str(data))
    assert main([*arguments, *named]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert_one_line(told.err)


@pytest.mark.parametrize(
    "command",
    [(), *((name,) for name in ("serve", "token", "tick", "clock", "replay", "recall", "reindex", "demo")), ("clock", "advance")],
)
def test_every_command_explains_itself(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: python -m local")


def test_the_demo_s_help_says_what_it_does_to_the_clock(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demo", "--help"])
    assert "46 minutes ahead" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "command", [("tick",), ("clock", "show"), ("clock", "advance", "1m"), ("demo",), ("recall", "ann", "words"), ("reindex",)]
)
def test_without_a_service_there_is_one_clear_line(
    data: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    open_folder(data)
    url = f"http://127.0.0.1:{free_port()}"
    assert main([*command, "--data", str(data), "--url", url]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert_one_line(told.err, url, "--url")


def test_the_demo_comes_out_as_told_twice_over(sqlite_service: Service) -> None:
    for _ in range(2):
        done = local("demo", "--data", str(sqlite_service.data), "--url", sqlite_service.url)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "[NO]" not in done.stdout
        assert "Research interests: " in done.stdout
        for shown in ("[2025-01-10, user said] I live in Oslo.", "home: Oslo, 2025-01-10 to 2025-03-10", "| score "):
            assert shown in done.stdout


def test_the_demo_comes_out_as_told_on_dynamodb(dynamodb_service: Service) -> None:
    done = local("demo", "--data", str(dynamodb_service.data), "--url", dynamodb_service.url)
    assert done.returncode == 0, done.stdout + done.stderr


def test_tick_and_clock_say_what_they_did(sqlite_service: Service, user: str) -> None:
    where = ("--data", str(sqlite_service.data), "--url", sqlite_service.url)
    sqlite_service.client(user).post_turn("s", {"role": "user", "content": "I study diabetes."})
    ticked = local("tick", *where)
    assert ticked.returncode == 0, ticked.stderr
    assert [line.split(":")[0] for line in ticked.stdout.splitlines()] == ["consolidation", "retention", "ConsolidationQueue"]
    assert "sent=" in ticked.stdout
    assert "waiting=0 in_flight=0 dead=0" in ticked.stdout
    assert local("tick", "retention", *where).stdout.startswith("retention: removed=")
    before = sqlite_service.client(user).get_session("s").json["session"]["expires_at"]
    assert local("clock", "advance", "1h30m", *where).returncode == 0
    assert "seconds ahead of the real time" in local("clock", "show", *where).stdout
    assert sqlite_service.client(user).get_session("s").status == 404
    assert sqlite_service.client(user).post_turn("s", {"role": "user", "content": "again"}).json["session"]["previous_expired"]
    assert sqlite_service.client(user).get_session("s").json["session"]["expires_at"] > before


def test_another_data_folder_s_key_is_not_accepted(
    sqlite_service: Service, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {"user_id": "u", "session_id": "s", "turn_id": "t", "role": "user", "content": "hello"}
    (tmp_path / "conversation.jsonl").write_text(json.dumps(line))
    open_folder(data)
    for command in (["tick"], ["demo"], ["clock", "show"], ["replay", str(tmp_path / "conversation.jsonl")]):
        assert main([*command, "--data", str(data), "--url", sqlite_service.url]) == 1
        assert_one_line(capsys.readouterr().err, "--data")


@pytest.mark.parametrize(
    ("broken", "content", "mending"),
    [
        ("keepsake.db", b"no database at all" * 100, "--fresh"),
        ("hash-key.json", b"{}", "--fresh"),
        ("clock.json", b"{}", "remove it"),
        ("token-key", b"", "remove it"),
        ("index.db", b"no database at all" * 100, "remove it"),
        ("queue.db", b"no database at all" * 100, "remove it"),
    ],
)
def test_a_broken_file_in_the_data_folder_is_named_with_what_mends_it(
    data: Path, broken: str, content: bytes, mending: str
) -> None:
    FileHashKeys(open_folder(data).hash_key).current()
    (data / broken).write_bytes(content)
    done = local("serve", "--data", str(data), "--port", "0")
    assert done.returncode == 1
    assert_one_line(done.stderr, str(data / broken), mending)
    assert (data / broken).read_bytes() == content


def test_a_missing_hash_key_is_not_replaced_while_there_is_a_database(data: Path) -> None:
    with running(data) as service:
        service.client("ann").post_turn("s", {"role": "user", "content": "hello"})
        assert service.stop() == 0
    key = (data / "hash-key.json").read_bytes()
    (data / "hash-key.json").unlink()
    done = local("serve", "--data", str(data), "--port", "0")
    assert done.returncode == 1
    assert_one_line(done.stderr, str(data / "hash-key.json"), "--fresh")
    assert not (data / "hash-key.json").exists()
    (data / "hash-key.json").write_bytes(key)
    with running(data) as again:
        assert [turn["content"] for turn in again.client("ann").all_turns("s")] == ["hello"]
        assert again.stop() == 0
    (data / "hash-key.json").unlink()
    with running(data, "--fresh") as anew:
        assert anew.client("ann").list_sessions().json["sessions"] == []


@pytest.mark.parametrize(
    "command", [("tick",), ("demo",), ("clock", "show"), ("replay", "file.jsonl"), ("recall", "ann", "words"), ("reindex",)]
)
def test_no_command_that_needs_a_service_makes_a_folder(
    data: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data.parent.joinpath("file.jsonl").write_text(
        json.dumps({"user_id": "u", "session_id": "s", "turn_id": "t", "role": "user", "content": "hello"})
    )
    monkeypatch.chdir(data.parent)
    assert main([*command, "--data", str(data)]) == 1
    assert_one_line(capsys.readouterr().err, str(data), "--data")
    assert not data.exists()


@pytest.mark.parametrize("named", [[], ["--data", "mine"]])
def test_a_token_can_be_had_before_the_first_start_and_says_that_the_folder_is_new(
    named: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["token", "ann", *named]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("ey")
    assert_one_line(said.err, "new data folder")
    assert (tmp_path / (named[-1] if named else ".local") / "token-key").exists()
    assert main(["token", "ann", *named]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "value"), [("SESSION_IDLE_MINUTES", "5"), ("KEEPSAKE_EMBEDDER", "titan"), ("OPENSEARCH_URL", "nonsense")]
)
def test_a_setting_that_makes_no_sense_is_said_in_one_line(
    data: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    done = local("serve", "--data", str(data), "--port", "0")
    assert done.returncode == 1
    assert_one_line(done.stderr, name)


def test_a_service_that_is_stopped_during_its_demo_ends_quietly(data: Path) -> None:
    command = [sys.executable, "-u", "-m", "local", "serve", "--demo", "--port", "0", "--data", str(data)]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "first session" in line:
                break
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(20) == 0
    assert "Traceback" not in rest


def test_expired_items_are_swept_by_retention(data: Path) -> None:
    with running(data) as service:
        where = ("--data", str(data), "--url", service.url)
        service.client("ann").post_turn("s", {"role": "user", "content": "gone in a week"})
        assert local("clock", "advance", "8d", *where).returncode == 0
        assert service.client("ann").get_turns("s").json["turns"] == []
        removed = local("tick", "retention", *where).stdout
        assert service.stop() == 0
    assert removed.startswith("retention: removed=")
    with closing(sqlite3.connect(data / "keepsake.db")) as database:
        dump = "\n".join(database.iterdump())
    assert "gone in a week" not in dump


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_service_without_a_traceback_and_data_and_clock_stay(data: Path, number: signal.Signals) -> None:
    with running(data) as service:
        service.client("ann").post_turn("s", {"role": "user", "content": "hello"})
        assert local("clock", "advance", "10m", "--data", str(data), "--url", service.url).returncode == 0
        service.process.send_signal(number)
        assert service.process.wait(20) == 0
    assert service.said[-1] == "Stopped."
    assert "Traceback" not in "\n".join(service.said)
    with running(data) as again:
        assert [turn["content"] for turn in again.client("ann").all_turns("s")] == ["hello"]
        assert "600 seconds ahead" in local("clock", "show", "--data", str(data), "--url", again.url).stdout


def test_fresh_forgets_and_makes_old_tokens_worthless(data: Path) -> None:
    with running(data) as service:
        old = service.client("ann")
        old.post_turn("s", {"role": "user", "content": "hello"})
        assert service.stop() == 0
    (data / "notes.txt").write_text("mine")
    with running(data, "--fresh") as again:
        assert again.client("ann").list_sessions().json["sessions"] == []
        assert old.pool.request("GET", f"{again.url}/v1/sessions", headers={"authorization": f"Bearer {old.token}"}).status == 401
    assert (data / "notes.txt").read_text() == "mine"


def test_fresh_refuses_a_folder_that_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "keepsake.db").write_text("somebody's")
    done = local("serve", "--fresh", "--data", str(tmp_path), "--port", "0")
    assert done.returncode == 1
    assert_one_line(done.stderr, "not a Keepsake data folder", "--data")
    assert (tmp_path / "keepsake.db").read_text() == "somebody's"


def test_one_service_per_data_folder_and_per_port(sqlite_service: Service, data: Path) -> None:
    second = local("serve", "--data", str(sqlite_service.data), "--port", "0", "--fresh")
    assert second.returncode == 1
    assert_one_line(second.stderr, "already runs", "--data")
    port = sqlite_service.url.rsplit(":", 1)[1]
    busy = local("serve", "--data", str(data), "--port", port)
    assert busy.returncode == 1
    assert_one_line(busy.stderr, f"port {port}", "--port")
    assert sqlite_service.client("ann").health().status == 200


@pytest.mark.parametrize(
    "arguments",
    [
        ("--stores", "dynamodb"),
        ("--stores", "dynamodb", "--endpoint", "localhost:8000"),
        ("--endpoint", "http://127.0.0.1:1"),
        ("--stores", "dynamodb", "--endpoint", "http://127.0.0.1:1"),
        ("--port", "99999"),
    ],
)
def test_a_service_that_cannot_start_says_why(data: Path, arguments: tuple[str, ...]) -> None:
    done = local("serve", "--data", str(data), *(() if "--port" in arguments else ("--port", "0")), *arguments)
    assert done.returncode == 1
    assert_one_line(done.stderr)


def test_serve_with_the_demo_shows_how_to_call(data: Path) -> None:
    with running(data, "--demo") as service:
        told = "\n".join(service.said)
        assert "All of it came out as told." in told
        assert "46 minutes ahead, and there it stays" in told
        assert service.stop() == 0
    shown = "\n".join(service.said)
    assert f"curl -s {service.url}/v1/sessions/first/turns" in shown
    assert "authorization: Bearer ey" in shown
    assert f"python -m local token you --data {data}" in shown


def test_serve_plays_the_demo_once_in_a_data_folder(data: Path) -> None:
    for arguments, ahead, played in ((("--demo",), 2760, True), (("--demo",), 2760, False), (("--demo", "--fresh"), 2760, True)):
        with running(data, *arguments) as service:
            told = "\n".join(service.said)
            assert ("All of it came out as told." in told) is played
            assert (f"play it again: python -m local demo --data {data} --url {service.url}" in told) is not played
            assert f"{ahead} seconds ahead" in local("clock", "show", "--data", str(data), "--url", service.url).stdout
            assert service.stop() == 0


def test_a_demo_that_was_played_by_hand_counts_too(data: Path) -> None:
    with running(data) as service:
        assert local("demo", "--data", str(data), "--url", f"{service.url}/").returncode == 0
        assert service.stop() == 0
    with running(data, "--demo") as again:
        assert "was played on this data folder before" in "\n".join(again.said)
