"""Counts tokens by tiktoken's cl100k_base, from a vocabulary that comes with the package: nothing is fetched, nothing written."""

import hashlib
from binascii import a2b_base64
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from threading import Lock
from typing import TYPE_CHECKING

from keepsake.ports.tokens import TokenCounter

if TYPE_CHECKING:
    from tiktoken import Encoding

# The ends of blocks, punctuation and a newline, are counted over and over. Nothing longer is kept: it might be somebody's words.
_ENDING = 3
_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
# How text is cut into pieces before they are encoded; as in tiktoken's own definition of the encoding.
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


class VocabularyError(Exception):
    """The vocabulary cannot be loaded: the file is missing or not the one we know, or tiktoken is not installed."""


def vendored_vocabulary() -> Traversable:
    """The vocabulary file in the package."""
    return files("keepsake").joinpath("data", "cl100k_base.tiktoken")


class VendoredTokens:
    """Exact counts. The vocabulary is loaded at the first count, or by `load`; any number of threads may share one object."""

    exact = True

    def __init__(self, vocabulary: Traversable | None = None) -> None:
        self._vocabulary = vocabulary or vendored_vocabulary()
        self._lock = Lock()
        self._encoding: Encoding | None = None
        self._ending = lru_cache(maxsize=1024)(self._counted)

    def load(self) -> None:
        """Loads the vocabulary, if that has not been done: a good thing before a snapshot. Raises VocabularyError."""
        with self._lock:
            if self._encoding is None:
                self._encoding = _encoding(self._vocabulary)

    def count(self, text: str) -> int:
        """Tokens of `text`. Raises VocabularyError when the vocabulary cannot be loaded."""
        return self._ending(text) if len(text) <= _ENDING else self._counted(text)

    def _counted(self, text: str) -> int:
        if self._encoding is None:
            self.load()
        assert self._encoding is not None  # noqa: S101 - `load` has set it or has raised
        return len(self._encoding.encode_ordinary(text))


class EstimatedTokens:
    """An upward estimate where there is no vocabulary: bytes of UTF-8, since every token stands for at least one."""

    exact = False

    def count(self, text: str) -> int:
        """Bytes of `text`, which are never fewer than its tokens."""
        return len(text) if text.isascii() else len(text.encode())


class BestTokens:
    """Exact counts where the vocabulary can be loaded, else the estimate, which says so by `exact`. Decided at the first use."""

    def __init__(self, vocabulary: Traversable | None = None) -> None:
        self._vendored = VendoredTokens(vocabulary)
        self._chosen: TokenCounter | None = None

    @property
    def exact(self) -> bool:
        """Whether the vocabulary could be loaded."""
        return self._counter().exact

    def load(self) -> None:
        """Decides now: a good thing before a snapshot. Never raises."""
        self._counter()

    def count(self, text: str) -> int:
        """Tokens of `text`, or the estimate."""
        return self._counter().count(text)

    def _counter(self) -> TokenCounter:
        if self._chosen is None:
            self._chosen = self._choice()
        return self._chosen

    def _choice(self) -> TokenCounter:
        try:
            self._vendored.load()
        except VocabularyError:
            return EstimatedTokens()
        return self._vendored


def load_tokens(vocabulary: Traversable | None = None) -> BestTokens:
    """The counter to use. Nothing is loaded before it is used."""
    return BestTokens(vocabulary)


def _encoding(vocabulary: Traversable) -> "Encoding":
    try:
        from tiktoken import Encoding  # noqa: PLC0415 - a tenth of a second, only for those who count

        return Encoding("cl100k_base", pat_str=_PATTERN, mergeable_ranks=_ranks(vocabulary.read_bytes()), special_tokens={})
    except (ImportError, OSError) as error:
        raise VocabularyError("the vocabulary cannot be loaded") from error


def _ranks(content: bytes) -> dict[bytes, int]:
    if hashlib.sha256(content).hexdigest() != _SHA256:
        raise VocabularyError("the vocabulary is not the one that we know")
    fields = content.split()
    return dict(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
