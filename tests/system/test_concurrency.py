"""Many callers at once: nothing said is lost, nothing is written twice, nobody gets another's answer."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.system.running import Service

pytestmark = pytest.mark.sockets

# moto copies its tables whole for every transaction, so it gets fewer.
LOADS = {"sqlite": (32, 20), "dynamodb": (8, 6)}


def test_many_threads_in_one_session_lose_nothing_and_write_nothing_twice(service: Service, user: str) -> None:
    threads, turns = LOADS[service.stores]
    client = service.client(user, repeats=200)

    def talk(thread: int) -> list[str]:
        said = [f"thread {thread} turn {number}" for number in range(turns)]
        return [text for text in said if client.post_turn("shared", {"role": "user", "content": text}).ok]

    with ThreadPoolExecutor(threads) as pool:
        answered = [text for said in pool.map(talk, range(threads)) for text in said]
    logged = client.all_turns("shared", limit=200)
    assert len(answered) == threads * turns
    assert Counter(turn["content"] for turn in logged) == Counter(answered)
    places = [turn["timestamp_ms"] for turn in logged]
    assert places == sorted(set(places))
    for thread in range(threads):
        own = [turn["content"] for turn in logged if turn["content"].startswith(f"thread {thread} ")]
        assert own == [f"thread {thread} turn {number}" for number in range(turns)]
    assert client.get_session("shared").json["session"]["turn_count"] == threads * turns
    assert client.verify_audit().json["valid"]


def test_the_same_turn_id_ten_times_at_once_is_one_turn(service: Service, user: str) -> None:
    client = service.client(user, repeats=50)
    turn = {"role": "user", "content": "only once, please", "turn_id": "the-turn"}
    with ThreadPoolExecutor(10) as pool:
        replies = list(pool.map(lambda _: client.post_turn("once", turn), range(10)))
    assert {reply.status for reply in replies} == {200}
    assert sum(not reply.json["turn"]["replayed"] for reply in replies) == 1
    assert len({reply.json["turn"]["timestamp_ms"] for reply in replies}) == 1
    assert [logged["turn_id"] for logged in client.all_turns("once")] == ["the-turn"]
    assert client.get_session("once").json["session"]["turn_count"] == 1


def test_the_same_turn_id_with_other_words_is_409(service: Service, user: str) -> None:
    client = service.client(user)
    client.post_turn("s", {"role": "user", "content": "first words", "turn_id": "t"})
    reused = client.post_turn("s", {"role": "user", "content": "other words", "turn_id": "t"})
    assert (reused.status, reused.code, reused.retry_after_s) == (409, "turn_id_reused", None)
    assert [turn["content"] for turn in client.all_turns("s")] == ["first words"]


def test_users_served_at_the_same_time_get_their_own_answers(service: Service, user: str) -> None:
    def talk(number: int) -> bool:
        client = service.client(f"{user}-{number}", repeats=50)
        mine = f"the word of number {number}"
        client.post_turn("s", {"role": "user", "content": f"{mine}."})
        for _ in range(5 if service.stores == "sqlite" else 1):
            reply = client.post_turn("s", {"role": "user", "content": "What is my word?"})
            text = reply.json["context"]["text"]
            if f"{mine}." not in text or text.count("the word of number") != 1:
                return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(talk, range(16)))
