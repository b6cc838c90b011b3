"""The whole configuration as files: every section, in the order in which it can be loaded."""

from billing.services.imports import PRICES
from pool.services.imports.catalogue import CATALOGUE
from pool.services.imports.places import PLACES
from pool.services.imports.rules import RULES
from pool.services.imports.sections import Section
from pool.services.imports.tenants import tenants
from portal.access.currencies import currency_fixed

SECTIONS: tuple[Section, ...] = (
    *tenants(currency_fixed=currency_fixed),
    *CATALOGUE,
    *PLACES,
    *RULES,
    PRICES,
)
SECTION_NAMES = [one.name for one in SECTIONS]


def sections_named(names: str) -> list[Section]:
    """The sections of these names, commas between them; none named means all.

    Raises:
        LookupError: one is not known.
    """
    wanted = [one for one in names.split(",") if one]
    known = {one.name: one for one in SECTIONS}
    unknown = [one for one in wanted if one not in known]
    if unknown:
        raise LookupError(unknown[0][:63])
    return [one for one in SECTIONS if not wanted or one.name in wanted]
