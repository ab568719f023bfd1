"""What the SQS queue does when SQS, or the way to it, fails: faults are put in at the HTTP level, below the SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ConnectTimeoutError

from keepsake.adapters.aws_errors import ERRORS_BY_CODE
from keepsake.adapters.sqs_queue import SqsWorkQueue, make_queue_client
from keepsake.domain.errors import QueueUnavailableError
from keepsake.ports.work_queue import WorkMessage
from tests.fakes import FakeChance, FakeClock
from tests.faults.dynamodb_wire import SECRET, answer, body_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from botocore.awsrequest import AWSPreparedRequest, AWSResponse

    Answer = Callable[[AWSPreparedRequest, list[dict[str, Any]]], AWSResponse]


class Line:
    """SQS in a few lines: takes everything, unless one of `answers`, one a request, says otherwise."""

    def __init__(self, *answers: Answer) -> None:
        self.client = make_queue_client()
        self.clock = FakeClock()
        self.answers = list(answers)
        self.requests: list[list[dict[str, Any]]] = []
        self.on_queue: list[str] = []
        self.client.meta.events.register("before-send.sqs", self._between)  # type: ignore[arg-type]  # it may answer
        self.queue = SqsWorkQueue(self.client, "https://sqs.example/1/q.fifo", clock=self.clock, chance=FakeChance(0.5))

    def _between(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        entries: list[dict[str, Any]] = body_of(request)["Entries"]
        self.requests.append(entries)
        if self.answers:
            return self.answers.pop(0)(request, entries)
        return self.take(request, entries)

    def take(self, request: AWSPreparedRequest, entries: list[dict[str, Any]], **failed: bool) -> AWSResponse:
        """Takes all but the `failed` ids, whose value says whether it is the sender's fault."""
        taken = [entry for entry in entries if entry["Id"] not in failed]
        self.on_queue += [entry["MessageDeduplicationId"] for entry in taken]
        successful = [{"Id": entry["Id"], "MessageId": "m", "MD5OfMessageBody": "x"} for entry in taken]
        refused = [{"Id": name, "SenderFault": fault, "Code": "Oops", "Message": SECRET} for name, fault in failed.items()]
        return answer(request, 200, {"Successful": successful, "Failed": refused})

    def failing(self, **failed: bool) -> Answer:
        return lambda request, entries: self.take(request, entries, **{name[1:]: fault for name, fault in failed.items()})


def messages(count: int, groups: int = 100) -> list[WorkMessage]:
    return [WorkMessage(ref=f"r{place}", group=f"g{place % groups}", deduplication=f"d{place}") for place in range(count)]


def error(code: str, status: int = 400) -> Answer:
    return lambda request, _: answer(request, status, {"__type": f"com.amazonaws.sqs#{code}", "message": SECRET})


def unreachable(request: AWSPreparedRequest, _: object) -> AWSResponse:
    raise ConnectTimeoutError(endpoint_url=f"https://example/{SECRET}")


def test_messages_go_out_in_tens_each_with_its_group_and_its_deduplication() -> None:
    line = Line()
    assert line.queue.send(messages(21)) == 21
    assert [len(request) for request in line.requests] == [10, 10, 1]
    assert line.requests[2] == [
        {"Id": "0", "MessageBody": '{"version":1,"ref":"r20"}', "MessageGroupId": "g20", "MessageDeduplicationId": "d20"}
    ]


def test_entries_that_fail_are_sent_again_after_a_wait_and_only_they() -> None:
    line = Line()
    line.answers = [line.failing(_1=False, _2=False), line.failing(_2=False)]
    assert line.queue.send(messages(4)) == 4
    assert [[entry["Id"] for entry in request] for request in line.requests] == [["0", "1", "2", "3"], ["1", "2"], ["2"]]
    assert line.clock.slept == [0.05, 0.1]


def test_entries_that_fail_every_time_are_given_up_and_not_counted() -> None:
    line = Line()
    line.answers = [line.failing(_1=False)] * 3
    assert line.queue.send(messages(2)) == 1
    assert len(line.requests) == 3


def test_an_entry_that_is_our_fault_is_not_sent_again() -> None:
    line = Line()
    line.answers = [line.failing(_0=True)]
    assert line.queue.send(messages(2)) == 1
    assert len(line.requests) == 1


def test_an_entry_is_not_sent_after_a_later_one_of_its_group() -> None:
    line = Line()
    line.answers = [line.failing(_0=False, _3=False)]
    assert line.queue.send(messages(4, groups=2)) == 3
    assert line.on_queue == ["d1", "d2", "d3"]


def test_when_none_is_taken_the_queue_is_unavailable() -> None:
    line = Line()
    line.answers = [line.failing(_0=True)]
    with pytest.raises(QueueUnavailableError):
        line.queue.send(messages(1))


def test_a_failure_after_some_were_taken_tells_how_many() -> None:
    line = Line()
    line.answers = [line.take, error("AccessDeniedException")]
    assert line.queue.send(messages(25)) == 10
    assert len(line.requests) == 2
    again = Line()
    again.answers = [again.failing(_0=False), error("AccessDeniedException")]
    assert again.queue.send(messages(3)) == 2


@pytest.mark.parametrize(
    "fault",
    [
        *[error(code) for code in ("QueueDoesNotExist", "AccessDeniedException", "KmsAccessDenied", "Whatever")],
        error("RequestThrottled"),
        error("InternalFailure", 500),
        unreachable,
        lambda request, _: answer(request, 200, {}),
        lambda request, _: answer(request, 200, b"<html>" + SECRET.encode(), "text/html"),
        lambda request, _: answer(request, 502, b"<html>" + SECRET.encode(), "text/html"),
        lambda request, _: answer(request, 200, {"Successful": [{}]}),
    ],
)
def test_every_failure_is_an_unavailable_queue_and_none_is_quoted(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)  # the SDK's own waits
    line = Line(*[fault] * 3)
    with pytest.raises(QueueUnavailableError) as raised:
        line.queue.send(messages(1))
    assert SECRET not in str(raised.value)


def test_the_client_waits_and_retries_as_stated() -> None:
    config: Any = make_queue_client().meta.config
    assert (config.connect_timeout, config.read_timeout) == (1, 3)
    assert config.retries == {"mode": "standard", "total_max_attempts": 3}
    assert make_queue_client(endpoint="http://127.0.0.1:1", region="eu-north-1").meta.endpoint_url == "http://127.0.0.1:1"


def test_every_error_that_the_service_model_names_for_our_call_is_mapped_by_name() -> None:
    model = make_queue_client().meta.service_model
    modelled = {shape.name for shape in model.operation_model("SendMessageBatch").error_shapes}
    ours = {"BatchEntryIdsNotDistinct", "BatchRequestTooLong", "EmptyBatchRequest", "InvalidBatchEntryId"}
    assert modelled - set(ERRORS_BY_CODE) == ours | {"TooManyEntriesInBatchRequest"}
