"""Whether an organization's currency may still change: the pool has no word for money."""

from billing.models.usage import Usage
from pool.models import Organization


def currency_fixed(organization: Organization) -> bool:
    """True once anything of the organization was metered: amounts are never converted."""
    return Usage.objects.filter(organization=organization).exists()
