"""The taskset `unhack-taskset`: verifiers finds a taskset by the name of a top-level package."""

from unhack.integrations.verifiers.taskset import SealedTaskset

__all__ = ["SealedTaskset"]
