"""`kill -9` in the middle of a load: every turn that was answered 2xx is there after the restart."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from local.client import Client, NoServiceError
from tests.system.running import running

pytestmark = pytest.mark.sockets

WRITERS = 8


def test_every_answered_turn_survives_a_kill(data: Path) -> None:
    answered: dict[int, list[str]] = {writer: [] for writer in range(WRITERS)}
    loaded = threading.Event()

    def write(client: Client, writer: int) -> None:
        for number in range(10_000):
            text = f"writer {writer} turn {number}"
            try:
                reply = client.post_turn(f"session-{writer % 4}", {"role": "user", "content": text, "turn_id": text})
            except NoServiceError:
                return
            if reply.ok:
                answered[writer].append(text)
            if sum(map(len, answered.values())) > 200:
                loaded.set()

    with running(data) as service, ThreadPoolExecutor(WRITERS) as pool:
        clients = [service.client("writer", repeats=3) for _ in range(WRITERS)]
        for writer, client in enumerate(clients):
            pool.submit(write, client, writer)
        assert loaded.wait(60)
        time.sleep(0.2)
        service.kill()
    assert sum(map(len, answered.values())) > 200
    with running(data) as again:
        client = again.client("writer")
        logged = {number: [turn["content"] for turn in client.all_turns(f"session-{number}", limit=200)] for number in range(4)}
        for writer, said in answered.items():
            there = [text for text in logged[writer % 4] if text.startswith(f"writer {writer} ")]
            # The last one may have been written without being answered.
            assert there[: len(said)] == said
            assert len(there) <= len(said) + 1
        assert client.verify_audit().json["valid"]
        repeated = client.post_turn("session-0", {"role": "user", "content": answered[0][0], "turn_id": answered[0][0]})
        assert repeated.json["turn"]["replayed"]
