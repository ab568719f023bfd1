"""The data folder of one machine: what lies in it, who may open it, and how it is emptied.

Only files named here are ever removed, and only from a folder that carries our mark.
"""

import contextlib
import errno
import fcntl
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = "keepsake-folder"
MARK_TEXT = "Keepsake keeps its data here. Format 1.\n"
DEFAULT_FOLDER = Path(".local")

FOREIGN_KEY = "the service does not know this data folder's key: name the folder it was started with by --data"


class LocalError(Exception):
    """Something the person at the keyboard can mend. The message is one line for them."""


@dataclass(frozen=True, slots=True)
class DataFolder:
    """A folder that is ours. Made by `open_folder`."""

    path: Path

    @property
    def database(self) -> Path:
        """The embedded stores."""
        return self.path / "keepsake.db"

    @property
    def index(self) -> Path:
        """The embedded search index. A copy of what the stores hold."""
        return self.path / "index.db"

    @property
    def queue(self) -> Path:
        """The embedded queue. What it holds is planned again if it is lost."""
        return self.path / "queue.db"

    @property
    def hash_key(self) -> Path:
        """The key of the keyed hashes."""
        return self.path / "hash-key.json"

    @property
    def token_key(self) -> Path:
        """The key that signs this machine's tokens."""
        return self.path / "token-key"

    @property
    def clock(self) -> Path:
        """How far the service's clock is ahead of the real one."""
        return self.path / "clock.json"

    @property
    def index_mark(self) -> Path:
        """Says that the search index was lost and is not filled anew yet."""
        return self.path / "index-lost"

    @property
    def demo_mark(self) -> Path:
        """Says that the demo was played here."""
        return self.path / "demo-played"

    def needs_hash_key(self) -> bool:
        """Whether the embedded stores hold what cannot be found any more, since the key of their names is gone."""
        return self.database.exists() and self.database.stat().st_size > 0 and not self.hash_key.exists()

    def wipe(self) -> None:
        """Remove what Keepsake stored here; foreign files stay. Only while the lock is held."""
        stores = (self.database, self.index, self.queue)
        for path in (*stores, self.hash_key, self.token_key, self.clock, self.demo_mark, self.index_mark):
            for suffix in ("", "-wal", "-shm", "-journal"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
        for left_over in self.path.glob(".keepsake-*.tmp"):
            left_over.unlink(missing_ok=True)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for this process. Raises LocalError when another service has it, or nobody may write to it."""
        with _unwritable(self.path):
            descriptor = os.open(self.path / "service.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = os.read(descriptor, 20).decode("ascii", "replace").strip()
                raise LocalError(
                    f"a service (process {owner}) already runs on {self.path}: stop it, or name another folder with --data"
                ) from None
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(descriptor)  # which frees the lock, as the end of the process would


def open_folder(path: Path) -> DataFolder:
    """The data folder at `path`, made when there is none. Raises LocalError for a folder that holds other things."""
    try:
        with _unwritable(path):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not (path / MARK).exists():
                if any(not entry.name.startswith(".keepsake-") for entry in path.iterdir()):
                    raise LocalError(f"{path} is not a Keepsake data folder and is not empty: name another one with --data")
                write_whole(path / MARK, MARK_TEXT.encode())
    except (FileExistsError, NotADirectoryError):
        raise LocalError(f"{path} is not a folder: name another one with --data") from None
    return DataFolder(path)


def known_folder(path: Path) -> DataFolder:
    """The data folder at `path`, never made here. Raises LocalError when there is none."""
    if not (path / MARK).exists():
        raise LocalError(f"{path} is no data folder of Keepsake: name with --data the one that the service was started on")
    return DataFolder(path)


@contextlib.contextmanager
def _unwritable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        raise LocalError(f"{path} cannot be written: make it writable, or name another folder with --data") from None


def write_whole(path: Path, content: bytes) -> None:
    """Put `content` in place of the file, so that a reader, or a crash, finds the old or the new and nothing between."""
    draft = _draft(path, content)
    draft.replace(path)
    _settle(path.parent)


def write_once(path: Path, content: bytes) -> bytes:
    """What the file holds after a first writer won: `content`, or what stood there before."""
    if not path.exists():
        draft = _draft(path, content)
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
        _settle(path.parent)
    return path.read_bytes()


def _draft(path: Path, content: bytes) -> Path:
    draft = path.with_name(f".keepsake-{secrets.token_hex(8)}.tmp")
    with _unwritable(path.parent):
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return draft


def _settle(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
