"""Asking recall directly, outside of a turn."""

from dataclasses import dataclass, replace

from keepsake.domain.principal import Principal
from keepsake.domain.recall_intent import KnownNames, RecallGate
from keepsake.ports.recall import Recall, Recalled, RecallRequest, RecallScene
from keepsake.repositories.memories import Memories


@dataclass(frozen=True, slots=True)
class Asking:
    """Answers searches."""

    memories: Memories
    recall: Recall
    gate: RecallGate

    def ask(self, principal: Principal, request: RecallRequest) -> Recalled:
        """The best hits; what is known of the user, where the query asks for that. Raises StoreUnavailableError."""
        fence, digest, pending = self.memories.load_scene(principal.user_id)
        about_me = self.gate.intent(request.text, (), KnownNames()).about_me
        scene = RecallScene(fence.epoch, digest, pending)
        return self.recall.recall(principal, replace(request, about_me=about_me), scene)
