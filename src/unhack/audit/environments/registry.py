"""Every attack on environments, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from unhack.audit.environments.attack import EnvironmentAttack
from unhack.audit.environments.attacks import (
    answers,
    episodes,
    host_environment,
    leaks,
    odd_files,
    sources,
    tests_changed,
)

ENVIRONMENT_ATTACKS: Mapping[str, EnvironmentAttack] = MappingProxyType(
    {
        one.name: one
        for room in (tests_changed, host_environment, odd_files, sources, answers, leaks, episodes)
        for one in room.ATTACKS
    }
)
"""Name -> attack, workspace first."""
