"""The composition root: settings → adapters → services, once per container. Nothing else chooses an implementation."""

from keepsake.bootstrap.runtime import Backends, Runtime, deployed, runtime, use

__all__ = ["Backends", "Runtime", "deployed", "runtime", "use"]
