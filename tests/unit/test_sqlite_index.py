"""What is the embedded search index's own: threads, other processes, what it remembers, its file, and its failures."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from keepsake.adapters.sqlite_index import SqliteSearchIndex
from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.errors import IndexUnavailableError
from keepsake.domain.search import DocumentKind, FieldStatistics, IndexDocument, IndexQuery
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel
from keepsake.ports.search_index import Location
from tests.fakes_index import DictSearchIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).parents[2]
MODEL = EmbeddingModel("model", 3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "index.db"


@pytest.fixture
def index(path: Path) -> Iterator[SqliteSearchIndex]:
    with contextlib.closing(SqliteSearchIndex(path)) as opened:
        opened.create("first", MODEL)
        opened.switch("first")
        yield opened


def document(document_id: str, terms: str, *, owner: str = "ann", values: bytes = b"\x01\x02\x03", at: int = 0) -> IndexDocument:
    words = tuple(terms.split())
    return IndexDocument(owner, document_id, DocumentKind.TURN, "ref", words, words * 2, Vector(values), at)


def query(terms: str, *owners: str) -> IndexQuery:
    return IndexQuery(owners or ("ann",), OPEN, frozenset(DocumentKind), tuple(terms.split()), Vector(b"\x01\x02\x03"))


def found(index: SqliteSearchIndex, terms: str, *owners: str) -> list[str]:
    return sorted(candidate.document_id for candidate in index.search(query(terms, *owners)).candidates if candidate.matches)


# ---- threads and processes --------------------------------------------------------------------------------------------


def test_a_search_never_sees_half_of_a_put(index: SqliteSearchIndex) -> None:
    index.put([document("a", "old"), document("b", "old")], index="first")
    written = threading.Event()

    def write() -> None:
        for number in range(40):
            index.put([document("a", f"t{number}"), document("b", f"t{number}"), document(f"{number}", "more")], index="first")
        written.set()

    def search() -> int:
        looks = 0
        while not written.is_set():
            answer = index.search(query(" ".join(f"t{number}" for number in range(40))))
            pairs = [candidate.matches for candidate in answer.candidates if candidate.document_id in {"a", "b"}]
            assert pairs[0] == pairs[1]
            assert sum(answer.turn.frequencies.values()) in {0, 2}
            assert answer.turn.length == answer.turn.documents == len(answer.candidates)
            looks += 1
        return looks

    with ThreadPoolExecutor(4) as pool:
        searches = [pool.submit(search) for _ in range(3)]
        pool.submit(write).result()
        assert all(looked.result() > 0 for looked in searches)


def test_writers_at_once_lose_nothing(index: SqliteSearchIndex) -> None:
    def write(writer: int) -> None:
        for number in range(10):
            index.put([document(f"{writer}/{number}", "house"), document("shared", "house")], index="first")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    current = index.current()
    assert current
    assert current.documents == 41
    assert index.search(query("house")).turn == FieldStatistics(41, 41, {"house": 41})


def _put(other: SqliteSearchIndex) -> None:
    other.put([document("b", "house")], index="first")


def _put_again(other: SqliteSearchIndex) -> None:
    other.put([document("a", "garden garden")], index="first")


def _delete_and_put(other: SqliteSearchIndex) -> None:
    other.delete([Location("first", "a", "ann")])
    other.put([document("a", "house", values=b"\x05\x00\x00")], index="first")


def _delete_all(other: SqliteSearchIndex) -> None:
    other.delete([Location("first", name, "ann") for name in ("a", "z")])


def _make_anew(other: SqliteSearchIndex) -> None:
    other.drop("first")
    other.create("first", MODEL)
    other.switch("first")
    other.put([document("a", "garden"), document("z", "house")], index="first")


@pytest.mark.parametrize("change", [_put, _put_again, _delete_and_put, _delete_all, _make_anew])
def test_what_another_process_writes_is_noticed(
    index: SqliteSearchIndex, path: Path, change: Callable[[SqliteSearchIndex], None]
) -> None:
    index.put([document("a", "house"), document("z", "house")], index="first")
    index.search(query("house garden"))
    with contextlib.closing(SqliteSearchIndex(path)) as other:
        change(other)
        expected = other.search(query("house garden"))
    with contextlib.closing(SqliteSearchIndex(path)) as fresh:
        assert fresh.search(query("house garden")) == expected
    assert index.search(query("house garden")) == expected


WRITER = """
import sys
from pathlib import Path
from keepsake.adapters.sqlite_index import SqliteSearchIndex
from keepsake.domain.search import DocumentKind, IndexDocument
from keepsake.domain.vectors import Vector
index = SqliteSearchIndex(Path(sys.argv[1]))
for n in range(100_000):
    two = [IndexDocument("ann", f"{n}/{part}", DocumentKind.TURN, "ref", ("house",), (), Vector(b"123"), n) for part in "ab"]
    index.put(two, index="first")
    print(n, flush=True)
"""


def test_what_was_put_before_a_kill_is_found_and_nothing_is_half_there(index: SqliteSearchIndex, path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "shared")}
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, env=environment) as writer:
        assert writer.stdout
        while (last := int(writer.stdout.readline())) < 20:
            pass
        writer.kill()
    answer = index.search(query("house"))
    assert answer.turn.documents == answer.turn.frequencies["house"] == answer.turn.length
    assert answer.turn.documents % 2 == 0
    assert answer.turn.documents >= 2 * (last + 1)


# ---- what is remembered -----------------------------------------------------------------------------------------------


def test_owners_that_no_longer_fit_in_memory_are_read_again(path: Path) -> None:
    with contextlib.closing(SqliteSearchIndex(path, remembered_bytes=1)) as small:
        small.create("first", MODEL)
        small.switch("first")
        owners = [f"user{number}" for number in range(4)]
        small.put([document(owner, "house", owner=owner) for owner in owners], index="first")
        for _ in range(2):
            assert [found(small, "house", owner) for owner in owners] == [[owner] for owner in owners]
        assert found(small, "house", *owners) == owners


def test_what_is_remembered_grows_and_shrinks_with_the_documents(index: SqliteSearchIndex) -> None:
    kept: dict[str, IndexDocument] = {}
    for step in range(12):
        new = [document(f"{step * 5 % 7}", f"t{step}", values=bytes([step + 1, 2, 3])), document(f"x{step}", "house")]
        index.put(new, index="first")
        kept |= {it.document_id: it for it in new}
        gone = f"x{step - 2}"
        index.delete([Location("first", gone, "ann")])
        kept.pop(gone, None)
        answer = index.search(query(" ".join(["house", *(f"t{number}" for number in range(12))])))
        assert {it.document_id: tuple(it.matches) for it in answer.candidates} == {
            it.document_id: it.terms for it in kept.values()
        }
        wanted = Vector(b"\x01\x02\x03")
        assert {it.document_id: it.cosine for it in answer.candidates} == {
            it.document_id: pytest.approx(wanted.cosine(it.vector)) for it in kept.values()
        }


def test_a_clearance_that_is_new_to_an_owner_is_told_from_those_before(index: SqliteSearchIndex) -> None:
    index.put([document("open", "house")], index="first")
    assert found(index, "house") == ["open"]
    secret = IndexDocument(
        "ann", "secret", DocumentKind.MEMORY, "ref", ("house",), (), Vector(b"123"), 0, clearance=Clearance(1, frozenset("a"))
    )
    index.put([secret], index="first")
    assert found(index, "house") == ["open"]
    cleared = IndexQuery(("ann",), secret.clearance, frozenset(DocumentKind), ("house",), None)
    assert {it.document_id: it.clearance for it in index.search(cleared).candidates} == {"open": OPEN, "secret": secret.clearance}


def test_a_text_of_many_thousand_terms_is_kept_and_found(index: SqliteSearchIndex) -> None:
    long = " ".join(f"w{number}" for number in range(12_000)) + " ha" * 6_000
    index.put([document("long", long), document("short", "w7 ha")], index="first")
    answer = index.search(query("w7 w11999 ha"))
    matches = {it.document_id: it.matches for it in answer.candidates}
    assert matches == {"long": {"w7": 1, "w11999": 1, "ha": 6_000}, "short": {"w7": 1, "ha": 1}}


def test_a_query_of_other_dimensions_is_refused(index: SqliteSearchIndex) -> None:
    index.put([document("a", "house")], index="first")
    asked = IndexQuery(("ann",), OPEN, frozenset(DocumentKind), (), Vector(b"1234"))
    with pytest.raises(ValueError, match="dimensions"):
        index.search(asked)


def test_no_owners_terms_are_taken_for_those_of_another(index: SqliteSearchIndex) -> None:
    owners = [f"user{number}" for number in range(1, 25)]
    for owner in owners:
        index.put([document("a", "t 1t 11t w 1w", owner=owner)], index="first")
    for owner in owners:
        answer = index.search(query("t 1t 11t 2t w 1w", owner))
        assert answer.turn == FieldStatistics(1, 5, {"t": 1, "1t": 1, "11t": 1, "2t": 0, "w": 1, "1w": 1})
        assert [candidate.owner for candidate in answer.candidates] == [owner]


def test_the_best_of_many_documents_are_those_of_the_plainest_index(index: SqliteSearchIndex) -> None:
    plain, chance = DictSearchIndex(), Random(3)
    plain.create("first", MODEL)
    plain.switch("first")
    words = [f"w{number}" for number in range(12)]
    documents = [
        document(f"{number}", " ".join(chance.choices(words, k=chance.randint(1, 30))), values=chance.randbytes(3))
        for number in range(300)
    ]
    for each in (index, plain):
        each.put(documents, index="first")
    for size in range(1, 12):
        asked = replace(query(" ".join(chance.sample(words, size))), per_arm=10)
        expected, answer = ({it.document_id: it for it in each.search(asked).candidates} for each in (plain, index))
        assert answer == expected


# ---- the file ---------------------------------------------------------------------------------------------------------


def _bytes_of(folder: Path) -> bytes:
    return b"".join([file.read_bytes() for file in sorted(folder.iterdir())])


def test_the_file_is_its_owners_alone(index: SqliteSearchIndex, path: Path) -> None:
    assert {file.stat().st_mode & 0o077 for file in path.parent.iterdir()} == {0}
    assert index.current()


@pytest.mark.parametrize("way", ["delete", "put again", "drop"])
def test_what_was_removed_is_in_no_file_any_more(index: SqliteSearchIndex, path: Path, way: str) -> None:
    words = ["unmistakableterm", "unmistakableowner", "unmistakabledocument"]
    secret = [
        document(f"{words[2]}{number}", f"{words[0]} and {words[0]}{number}", owner=words[1], values=b"\x41\x42\x43")
        for number in range(300)
    ]
    for start in range(0, 300, 20):
        index.put(secret[start : start + 20], index="first")
        index.put([document(f"{start}", "others words stay")], index="first")
    index.search(query(words[0], words[1]))
    assert all(word.encode() in _bytes_of(path.parent) for word in words)
    if way == "drop":
        index.drop("first")
    elif way == "delete":
        index.delete([Location("first", it.document_id, it.owner) for it in secret])
    else:
        index.put([document(it.document_id, "harmless", owner=it.owner) for it in secret], index="first")
    index.clear_residue()
    left = [word for word in words if word.encode() in _bytes_of(path.parent)]
    assert left == ([] if way != "put again" else words[1:])
    assert found(index, "others") == ([] if way == "drop" else sorted(str(start) for start in range(0, 300, 20)))


def test_nothing_that_is_deployed_needs_the_numbers_of_this_index() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "shared")}
    program = "import sys, keepsake.bootstrap; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == 0


# ---- failures ---------------------------------------------------------------------------------------------------------


def _calls(index: SqliteSearchIndex) -> Sequence[Callable[[], object]]:
    return [
        index.current,
        lambda: index.create("second", MODEL),
        lambda: index.switch("first"),
        lambda: index.drop("first"),
        lambda: index.put([document("a", "house")], index="first"),
        lambda: index.delete([Location("first", "a", "ann")]),
        lambda: index.search(query("house")),
        lambda: index.list_owned("ann", limit=1),
        lambda: index.list_all("first", limit=1),
        index.clear_residue,
    ]


def test_a_closed_index_is_unavailable_and_closing_twice_is_fine(index: SqliteSearchIndex) -> None:
    index.close()
    index.close()
    for call in _calls(index):
        with pytest.raises(IndexUnavailableError):
            call()


def test_a_file_that_another_process_keeps_locked_is_unavailable_for_writing(index: SqliteSearchIndex, path: Path) -> None:
    index.put([document("a", "house")], index="first")
    index._database._writer.execute("PRAGMA busy_timeout = 1")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(IndexUnavailableError, match="SQLITE_BUSY"):
            index.put([document("b", "house")], index="first")
        assert found(index, "house") == ["a"]
        other.execute("ROLLBACK")
    index.put([document("b", "house")], index="first")
    assert found(index, "house") == ["a", "b"]


def test_a_file_that_is_no_database_is_unavailable(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database at all, but long enough to look at" * 100)
    with pytest.raises(IndexUnavailableError):
        SqliteSearchIndex(path)


@pytest.mark.parametrize("table", ["Owners1", "Documents1", "Lexical1"])
def test_a_broken_file_is_unavailable_and_the_error_names_nobody(index: SqliteSearchIndex, path: Path, table: str) -> None:
    index.put([document("secret", "secret", owner="secret")], index="first")
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute(f"DROP TABLE {table}")
    for call in (
        lambda: index.search(query("secret", "secret")),
        lambda: index.put([document("secret", "secret", owner="secret")], index="first"),
    ):
        with pytest.raises(IndexUnavailableError) as caught:
            call()
        assert "secret" not in str(caught.value)
        assert caught.value.retryable
