"""The research profile as its owner sees, edits and resets it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from keepsake.domain.audit import Action, Actor, AuditEvent
from keepsake.domain.errors import StaleVersionError
from keepsake.domain.principal import Principal
from keepsake.domain.profile import Profile, ProfileEdit, edited, reset
from keepsake.ports.surroundings import Clock
from keepsake.repositories.profiles import Profiles
from keepsake.services.retrying import Retrying


@dataclass(frozen=True, slots=True)
class ProfileKeeping:
    """Reads and changes profiles."""

    profiles: Profiles
    clock: Clock
    retrying: Retrying

    def read(self, principal: Principal) -> Profile:
        """The principal's profile; an empty one before anything was learned."""
        return self.profiles.load(principal.user_id).profile.value or Profile()

    def edit(self, principal: Principal, edit: ProfileEdit, *, expected_version: int | None) -> Profile:
        """The profile with what its owner wrote in place of what was learned; unchanged when that is what stands there.

        Raises InvalidRequestError, StaleVersionError or LostRaceError.
        """

        def change(profile: Profile) -> Profile:
            wanted = edited(profile, edit, at_ms=self.clock.now_ms())
            if replace(wanted, version=profile.version, updated_at_ms=profile.updated_at_ms) == profile:
                return profile
            if expected_version is not None and expected_version != profile.version:
                raise StaleVersionError("the profile has another version than the one named")
            return wanted

        return self._changed(principal, Action.PROFILE_EDITED, change)

    def reset(self, principal: Principal) -> Profile:
        """Forget everything that the profile learned. Raises LostRaceError."""
        return self._changed(principal, Action.PROFILE_RESET, lambda profile: reset(profile, at_ms=self.clock.now_ms()))

    def _changed(self, principal: Principal, action: Action, change: Callable[[Profile], Profile]) -> Profile:
        return self.retrying.call(lambda: self._attempt(principal, action, change))

    def _attempt(self, principal: Principal, action: Action, change: Callable[[Profile], Profile]) -> Profile:
        snapshot = self.profiles.load(principal.user_id)
        current = snapshot.profile.value or Profile()
        profile = change(current)
        if profile == current:
            return current
        event = AuditEvent(action, Actor.SELF, self.clock.now_ms(), {"profile": 1}, {})
        self.profiles.commit(principal.user_id, snapshot, profile, event)
        return profile
