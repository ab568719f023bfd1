"""The data folder: whose it is, who has it, and what is ever removed from it."""

import os
import stat
from pathlib import Path

import pytest

from local.folder import LocalError, known_folder, open_folder, write_once, write_whole


def test_a_new_folder_becomes_ours_and_only_its_owner_may_look(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "deep" / "data")
    assert open_folder(folder.path) == folder
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


def test_a_folder_that_holds_other_things_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(LocalError, match="not a Keepsake data folder"):
        open_folder(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_that_is_only_looked_for_is_never_made(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(LocalError, match="--data"):
            known_folder(path)
    assert list(tmp_path.iterdir()) == []
    made = open_folder(tmp_path / "data")
    assert known_folder(made.path) == made


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "data")
    folder.path.chmod(0o500)
    with pytest.raises(LocalError, match=r"data cannot be written"), folder.locked():
        pass
    with pytest.raises(LocalError, match=r"deep cannot be written"):
        open_folder(folder.path / "deep")
    with pytest.raises(LocalError, match=r"data cannot be written"):
        write_once(folder.token_key, b"key")
    folder.path.chmod(0o700)


def test_a_database_without_its_hash_key_is_noticed(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "data")
    assert not folder.needs_hash_key()
    folder.database.write_bytes(b"")
    assert not folder.needs_hash_key()  # a start that was cut short: it holds nothing
    folder.database.write_bytes(b"items")
    assert folder.needs_hash_key()
    folder.hash_key.write_bytes(b"key")
    assert not folder.needs_hash_key()


def test_a_file_in_the_folder_s_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(LocalError, match="not a folder"):
        open_folder(tmp_path / "data")


def test_wiping_removes_what_is_ours_and_nothing_else(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "data")
    stores = [folder.database, folder.index, folder.queue]
    beside = [path.with_name(path.name + suffix) for path in stores for suffix in ("-wal", "-shm")]
    marks = [folder.demo_mark, folder.index_mark]
    for path in (*stores, *beside, folder.hash_key, folder.token_key, folder.clock, *marks):
        path.write_text("ours")
    (folder.path / "notes.txt").write_text("mine")
    folder.wipe()
    assert {entry.name for entry in folder.path.iterdir()} == {"keepsake-folder", "notes.txt"}


def test_only_one_service_has_the_folder(tmp_path: Path) -> None:
    folder = open_folder(tmp_path)
    with folder.locked(), pytest.raises(LocalError, match="already runs"), folder.locked():
        pass
    with folder.locked():  # and it is free again after that
        pass


def test_what_is_written_once_stays(tmp_path: Path) -> None:
    assert write_once(tmp_path / "key", b"first") == b"first"
    assert write_once(tmp_path / "key", b"second") == b"first"
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["key"]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "clock.json", b"a long first content")
    write_whole(tmp_path / "clock.json", b"short")
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("clock.json", b"short")]
