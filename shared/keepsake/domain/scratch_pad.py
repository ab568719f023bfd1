"""Named artifacts of one session: an SQL draft, a cohort's specification, the outline of a chapter."""

from dataclasses import dataclass, replace

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.errors import ArtifactNotFoundError, ArtifactTooLargeError, ScratchPadFullError, StaleVersionError

MAX_ARTIFACTS = 16
MAX_ARTIFACT_BYTES = 32 * 1024
# Together with the largest buffer of turns it stays below the 400 KB of one item.
MAX_PAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Artifact:
    """One artifact. `version` counts its changes from 1; `tokens` counts its content."""

    name: str
    kind: str
    content: str
    version: int
    updated_at_ms: int
    tokens: int
    clearance: Clearance = OPEN

    @property
    def size(self) -> int:
        """Bytes of the content in UTF-8."""
        return len(self.content.encode())


@dataclass(frozen=True, slots=True)
class ScratchPad:
    """All artifacts of a session, in the order in which they were first put."""

    artifacts: tuple[Artifact, ...] = ()

    def find(self, name: str) -> Artifact | None:
        """The artifact of that name, if there is one."""
        return next((artifact for artifact in self.artifacts if artifact.name == name), None)

    def get(self, name: str, clearance: Clearance) -> Artifact:
        """The artifact of that name. Raises ArtifactNotFoundError, also for one that the clearance does not cover."""
        artifact = self.find(name)
        if artifact is None or not clearance.covers(artifact.clearance):
            raise ArtifactNotFoundError("the scratch pad has no artifact of that name")
        return artifact

    def put(self, artifact: Artifact, *, expected_version: int | None = None) -> "ScratchPad":
        """The pad with the artifact in it, one version on; the pad itself when the same stands there already.

        `expected_version` 0 means that the name must be new. Raises StaleVersionError, ArtifactTooLargeError and
        ScratchPadFullError.
        """
        current = self.find(artifact.name)
        if current and replace(artifact, version=current.version, updated_at_ms=current.updated_at_ms) == current:
            return self
        version = current.version if current else 0
        if expected_version is not None and expected_version != version:
            raise StaleVersionError("the artifact has another version than the one named")
        return self._with(_checked(replace(artifact, version=version + 1)))

    def without(self, name: str) -> "ScratchPad":
        """The pad without the artifact of that name."""
        return ScratchPad(tuple(artifact for artifact in self.artifacts if artifact.name != name))

    def _with(self, changed: Artifact) -> "ScratchPad":
        kept = {artifact.name: artifact for artifact in self.artifacts} | {changed.name: changed}
        if len(kept) > MAX_ARTIFACTS or sum(artifact.size for artifact in kept.values()) > MAX_PAD_BYTES:
            raise ScratchPadFullError(f"a scratch pad has at most {MAX_ARTIFACTS} artifacts and {MAX_PAD_BYTES} bytes")
        return ScratchPad(tuple(kept.values()))


def _checked(artifact: Artifact) -> Artifact:
    if artifact.size > MAX_ARTIFACT_BYTES:
        raise ArtifactTooLargeError(f"an artifact has at most {MAX_ARTIFACT_BYTES} bytes of UTF-8")
    return artifact
