"""Commands that meet the wrong server, a silent one, or a service whose store is gone: one clear line each."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

from local.cli import main
from local.client import Client, SilentServiceError
from local.folder import open_folder
from tests.system.running import assert_one_line, local, moto, running

pytestmark = pytest.mark.sockets


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of something that takes calls and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_what_never_answers_is_not_waited_for_without_end(silent: str) -> None:
    with pytest.raises(SilentServiceError, match=r"took the call but did not answer it in 0 s: .* --url"):
        Client(silent, repeats=5, read_s=0.2).call("GET", "/v1/health")


@pytest.mark.timeout(60)
def test_the_clock_s_silence_is_one_line(data: Path, silent: str, capsys: pytest.CaptureFixture[str]) -> None:
    open_folder(data)
    assert main(["clock", "show", "--data", str(data), "--url", silent]) == 1
    assert_one_line(capsys.readouterr().err, silent, "in 5 s", "--url")


def page(_environ: object, start_response: Callable[..., object]) -> list[bytes]:
    """A web page for whatever is asked."""
    start_response("200 OK", [("content-type", "text/html")])
    return [b"<html>hello</html>"]


class QuietRequest(WSGIRequestHandler):
    """Keeps no log."""

    def log_message(self, *_arguments: object) -> None:
        """Nothing."""


@pytest.fixture
def stranger() -> Iterator[str]:
    """The address of a web server that is not ours."""
    with make_server("127.0.0.1", 0, page, handler_class=QuietRequest) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        serving.join(10)


@pytest.mark.parametrize("command", [("tick",), ("demo",), ("clock", "show"), ("replay", "file.jsonl")])
def test_a_server_that_is_not_keepsake_s_is_said_in_one_line(
    data: Path, command: tuple[str, ...], stranger: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    open_folder(data)
    line = {"user_id": "u", "session_id": "s", "turn_id": "t", "role": "user", "content": "hello"}
    (data / "file.jsonl").write_text(json.dumps(line))
    monkeypatch.chdir(data)
    assert main([*command, "--data", str(data), "--url", stranger]) == 1
    assert_one_line(capsys.readouterr().err, "not Keepsake's", "--url")


def test_a_dynamodb_that_is_none_is_named_with_what_to_check(data: Path, stranger: str) -> None:
    done = local("serve", "--data", str(data), "--port", "0", "--stores", "dynamodb", "--endpoint", stranger)
    assert done.returncode == 1
    assert_one_line(done.stderr, stranger, "--endpoint")


@pytest.mark.timeout(120)
def test_a_tick_without_the_store_says_so(data: Path) -> None:
    with ExitStack() as store:
        endpoint = store.enter_context(moto())
        with running(data, "--endpoint", endpoint, stores="dynamodb") as service:
            store.close()
            reply = Client(service.url, service.issuer.issue_control()).call("POST", "/local/tick", {"run": "consolidation"})
            done = local("tick", "consolidation", "--data", str(data), "--url", f"{service.url}/v1/")
    assert (reply.status, reply.code) == (503, "store_unavailable")
    assert done.returncode == 1
    assert_one_line(done.stderr, "503", "consolidation stopped, since the store does not answer")
