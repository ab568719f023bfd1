"""The conversation archive: the turns of a consolidated session, in chunks that are read and kept as one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keepsake.domain.turns import Turn

CHUNK_TURNS = 16
# One chunk is one item, whose text may not compress at all.
CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class ArchiveChunk:
    """Some turns of a session that follow each other. Named by the place of the first: the same turns make the same chunk."""

    session_id: str
    turns: tuple[Turn, ...]

    @property
    def first_place_ms(self) -> int:
        """The place of its first turn in the log."""
        return self.turns[0].timestamp_ms


def chunked(session_id: str, turns: Sequence[Turn]) -> Iterator[ArchiveChunk]:
    """The turns in chunks, none larger than it may be."""
    chunk: list[Turn] = []
    size = 0
    for turn in turns:
        if chunk and (len(chunk) == CHUNK_TURNS or size + turn.size > CHUNK_BYTES):
            yield ArchiveChunk(session_id, tuple(chunk))
            chunk, size = [], 0
        chunk.append(turn)
        size += turn.size
    if chunk:
        yield ArchiveChunk(session_id, tuple(chunk))
