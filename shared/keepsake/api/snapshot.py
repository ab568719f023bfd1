"""Work that is done once before Lambda takes the snapshot a function is restored from, so that no call waits for it."""

from collections.abc import Callable

try:
    from snapshot_restore_py import register_before_snapshot  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # the module is part of Lambda's own runtime and of nothing else

    def register_before_snapshot(func: Callable[[], object]) -> None:
        """Without snapshots there is nothing to prepare."""


def before_snapshot(prepare: Callable[[], object]) -> None:
    """Have `prepare` run before the snapshot. It must not fetch a secret, an id or a random number: all copies would share it."""
    register_before_snapshot(prepare)
