"""The families of packages, by name."""

from __future__ import annotations

from types import MappingProxyType

from unhack.environments.repos.families.access import family as access
from unhack.environments.repos.families.cache import family as cache
from unhack.environments.repos.families.codec import family as codec
from unhack.environments.repos.families.formula import family as formula
from unhack.environments.repos.families.layout import family as layout
from unhack.environments.repos.families.letters import family as letters
from unhack.environments.repos.families.merge import family as merge
from unhack.environments.repos.families.pricing import family as pricing
from unhack.environments.repos.families.recurrence import family as recurrence
from unhack.environments.repos.families.routing import family as routing
from unhack.environments.repos.families.simulator import family as simulator
from unhack.environments.repos.families.tables import family as tables
from unhack.environments.repos.families.units import family as units
from unhack.environments.repos.families.workflow import family as workflow

FAMILIES = MappingProxyType(
    {
        one.FAMILY.name: one.FAMILY
        for one in (
            access,
            cache,
            codec,
            formula,
            layout,
            letters,
            merge,
            pricing,
            recurrence,
            routing,
            simulator,
            tables,
            units,
            workflow,
        )
    }
)
