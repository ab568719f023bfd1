import pytest

from keepsake.adapters.data_files import load_summary_wordings, load_topics
from keepsake.domain.clearance import Clearance
from keepsake.domain.errors import CorruptItemError
from keepsake.domain.intents import IntentStack
from keepsake.domain.session import SessionBuffer
from keepsake.domain.summary import SessionSummary, Summarizer, SummaryLine
from keepsake.domain.turns import Role
from keepsake.ports.item_store import Item, Key, Table, Value
from keepsake.repositories.records import packed, read, unpacked
from keepsake.repositories.session_records import buffer_attributes, buffer_of
from tests.conversations import Said, said

SUMMARIZER = Summarizer(len, load_topics(), load_summary_wordings())


def item_of(attributes: dict[str, Value]) -> Item:
    return Item(Key(Table.BUFFERS, "user", "session"), attributes)


def make_buffer() -> SessionBuffer:
    spoken: list[Said | str] = ["We decided on Lisbon. Which month is best?", Said("I don't know yet.", Role.ASSISTANT)] * 5
    buffer = SessionBuffer("incarnation", started_at_ms=0, hidden_after_ms=1000)
    for turn in said(*spoken):
        buffer = buffer.appended(turn, IntentStack(), SUMMARIZER)
    return buffer


def with_body(buffer: SessionBuffer, **parts: object) -> dict[str, Value]:
    attributes = buffer_attributes(buffer)
    body = attributes["body"]
    assert isinstance(body, bytes)
    return {**attributes, "body": packed({**unpacked(body), **parts})}


def test_a_buffer_reads_back_with_its_summary() -> None:
    buffer = make_buffer()
    assert (buffer.summary.turns, len(buffer.summary.decisions), len(buffer.summary.questions)) == (8, 1, 1)
    assert buffer_of(item_of(buffer_attributes(buffer))) == buffer


def test_a_summary_from_before_it_had_more_than_lines_reads_and_goes_on() -> None:
    buffer = make_buffer()
    old = with_body(buffer, summary=[["User: hello there", 5, 2], ["User: a secret", 4, 1, 2, "trial-7"]], summarized=9)
    read_back = buffer_of(item_of(old))
    lines = (SummaryLine("User: hello there", 5, 2), SummaryLine("User: a secret", 4, 1, Clearance(2, frozenset({"trial-7"}))))
    assert read_back.summary == SessionSummary(lines, 9)
    assert read_back.summary.extended(buffer.turns, SUMMARIZER).turns == 9 + len(buffer.turns)


@pytest.mark.parametrize("summary", [None, {}, [["too short"]], {"turns": "x", "covered": 1}])
def test_a_summary_of_something_else_is_corrupt(summary: object) -> None:
    with pytest.raises(CorruptItemError):
        read(buffer_of, item_of(with_body(make_buffer(), summary=summary, summarized=1)))
