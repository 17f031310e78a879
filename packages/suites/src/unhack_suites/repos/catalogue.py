"""The families of packages, by name."""

from __future__ import annotations

from types import MappingProxyType

from unhack_suites.repos.families.access import family as access
from unhack_suites.repos.families.cache import family as cache
from unhack_suites.repos.families.codec import family as codec
from unhack_suites.repos.families.formula import family as formula
from unhack_suites.repos.families.layout import family as layout
from unhack_suites.repos.families.letters import family as letters
from unhack_suites.repos.families.merge import family as merge
from unhack_suites.repos.families.pricing import family as pricing
from unhack_suites.repos.families.recurrence import family as recurrence
from unhack_suites.repos.families.routing import family as routing
from unhack_suites.repos.families.simulator import family as simulator
from unhack_suites.repos.families.tables import family as tables
from unhack_suites.repos.families.units import family as units
from unhack_suites.repos.families.workflow import family as workflow

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
