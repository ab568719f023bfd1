"""Each kind of error has a status that fits it, and stands in the documentation."""

import re
from pathlib import Path

import pytest

from keepsake.api.problems import STATUSES, problem, retry_after, status_of
from keepsake.domain import errors
from keepsake.domain.errors import KeepsakeError

API = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
EXPLICIT = {
    errors.InvalidIdError: 400,
    errors.ClearanceExceededError: 403,
    errors.MemoryNotFoundError: 404,
    errors.DocumentNotFoundError: 404,
    errors.JobNotFoundError: 404,
    errors.LeaseHeldError: 409,
    errors.LeaseLostError: 409,
    errors.ReindexNeededError: 409,
    errors.ReindexRunningError: 409,
    errors.SubjectErasedError: 410,
    errors.DocumentTooLargeError: 413,
    errors.IndexUnavailableError: 503,
    errors.ModelUnavailableError: 503,
    errors.QueueUnavailableError: 503,
    errors.StoreUnavailableError: 503,
    errors.CorruptItemError: 500,
}


def kinds(of: type[KeepsakeError] = KeepsakeError) -> list[type[KeepsakeError]]:
    """A class and all below it that the project has."""
    here = [of] if of.__module__ == errors.__name__ else []
    return here + [kind for below in of.__subclasses__() for kind in kinds(below)]


@pytest.mark.parametrize("kind", kinds())
def test_every_error_has_a_status_and_stands_in_the_documentation_beside_it(kind: type[KeepsakeError]) -> None:
    status = status_of(kind("it went wrong"))
    assert status in set(STATUSES.values())
    assert EXPLICIT.get(kind, status) == status
    if kind.__subclasses__() and kind.code not in API:
        return  # only what is below it is ever raised
    (line,) = (line for line in API.splitlines() if line.startswith(f"| {status} |"))
    assert re.search(f"`{kind.code}`", line), f"docs/api.md does not say {kind.code} at {status}"


@pytest.mark.parametrize("kind", kinds())
def test_what_may_be_repeated_says_after_how_long_and_nothing_else_does(kind: type[KeepsakeError]) -> None:
    wait = retry_after(kind("it went wrong"))
    assert (wait is not None) == kind.retryable
    assert kind.retryable == (
        status_of(kind()) == 503 or kind in {errors.LostRaceError, errors.LeaseHeldError, errors.LeaseLostError}
    )


def test_every_code_is_of_one_kind_and_every_documented_code_of_some() -> None:
    codes = [kind.code for kind in kinds()]
    assert len(codes) == len(set(codes))
    table = API[API.index("## Problems") :]
    documented = {
        code for line in table.splitlines() if re.match(r"\| \d{3} ", line) for code in re.findall(r"`([a-z_]+)`", line)
    }
    assert documented - {"request_too_large", "turn_id"} <= set(codes)


def test_a_problem_tells_its_code_and_no_more_than_was_written_for_the_caller() -> None:
    document = problem(errors.ReindexRunningError("a reindex is under way"), "c1")
    assert (document["status"], document["code"], document["correlation_id"]) == (409, "reindex_running", "c1")
    assert document["type"] == "urn:keepsake:problem:reindex_running"
