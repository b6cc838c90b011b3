"""Who may change which quota row: the platform all, an organization's admin what it deals out."""

from pool.lifecycle.roles import QuotaKind
from pool.models import Organization, Project
from pool.selectors.memberships import Standing
from portal.access.guards import may
from portal.access.roles import Verb


def may_set(standing: Standing, tenant: Organization | Project, kind: str) -> bool:
    """Whether the person may set this kind of row of this tenant, or of a member inside it.

    Limits and allowances of projects and members are dealt out by the organization's admin; what
    the organization itself may have, and every guarantee, is the platform's word.
    """
    if may(standing, Verb.QUOTA_SET):
        return True
    if isinstance(tenant, Organization) or kind == QuotaKind.ENTITLEMENT:
        return False
    verb = Verb.ALLOWANCE_SET if kind == QuotaKind.ALLOWANCE else Verb.QUOTA_DEAL
    return may(standing, verb, tenant)
