import pytest

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.errors import ArtifactNotFoundError, ArtifactTooLargeError, ScratchPadFullError, StaleVersionError
from keepsake.domain.scratch_pad import MAX_ARTIFACT_BYTES, MAX_ARTIFACTS, Artifact, ScratchPad


def make_artifact(name: str = "draft", content: str = "SELECT 1", *, level: int = 0) -> Artifact:
    return Artifact(name, "sql", content, version=0, updated_at_ms=1, tokens=1, clearance=Clearance(level))


def test_versions_count_the_changes_of_an_artifact() -> None:
    pad = ScratchPad().put(make_artifact()).put(make_artifact(content="SELECT 2"))
    assert pad.get("draft", OPEN).version == 2


def test_the_same_content_again_makes_no_new_version() -> None:
    pad = ScratchPad().put(make_artifact())
    assert pad.put(make_artifact()) is pad


def test_a_stale_version_is_refused_unless_what_was_wanted_stands_there_already() -> None:
    pad = ScratchPad().put(make_artifact())
    with pytest.raises(StaleVersionError):
        pad.put(make_artifact(content="SELECT 2"), expected_version=0)
    assert pad.put(make_artifact(), expected_version=0) is pad


def test_limits_on_size_and_number_are_kept() -> None:
    with pytest.raises(ArtifactTooLargeError):
        ScratchPad().put(make_artifact(content="ก" * (MAX_ARTIFACT_BYTES // 3 + 1)))
    pad = ScratchPad()
    for number in range(MAX_ARTIFACTS):
        pad = pad.put(make_artifact(f"a{number}"))
    with pytest.raises(ScratchPadFullError):
        pad.put(make_artifact("one more"))
    assert pad.put(make_artifact("a0", content="other")).get("a0", OPEN).version == 2


def test_three_full_artifacts_are_more_than_a_pad_holds() -> None:
    pad = ScratchPad()
    for name in ("a", "b"):
        pad = pad.put(make_artifact(name, content="x" * MAX_ARTIFACT_BYTES))
    with pytest.raises(ScratchPadFullError):
        pad.put(make_artifact("c", content="x"))


def test_an_artifact_above_the_readers_clearance_is_not_there() -> None:
    pad = ScratchPad().put(make_artifact(level=2))
    with pytest.raises(ArtifactNotFoundError):
        pad.get("draft", Clearance(1))


def test_a_removed_artifact_is_gone_and_its_name_is_new_again() -> None:
    pad = ScratchPad().put(make_artifact()).without("draft")
    with pytest.raises(ArtifactNotFoundError):
        pad.get("draft", OPEN)
    assert pad.put(make_artifact(), expected_version=0).get("draft", OPEN).version == 1
