"""What names, slugs and currencies may look like."""

import re
from typing import Any

from pool.lifecycle.roles import Role
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.workloads import is_text

_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z")
_USERNAME = re.compile(r"[\w.@+-]{1,150}\Z")
_CURRENCY = re.compile(r"[A-Z]{3}\Z")

OF_PLATFORM = frozenset({Role.PLATFORM_ADMIN})
OF_ORGANIZATION = frozenset({Role.ORG_ADMIN, Role.BILLING_READER})
OF_PROJECT = frozenset({Role.LEAD, Role.MEMBER, Role.VIEWER})
"""Where each role is held."""

ACCOUNT_ROLES = (str(Role.MEMBER), str(Role.VIEWER))
"""What a service account may be: it never decides about people or requests."""


def slug_problem(slug: Any) -> Problem | None:
    """A slug has 1 to 63 small letters, digits and inner hyphens."""
    if isinstance(slug, str) and _SLUG.match(slug):
        return None
    return Problem(_("1 to 63 small letters, digits and inner hyphens are needed."))


def title_problem(name: Any, most: int = 120) -> Problem | None:
    """A name is one line that is not blank."""
    if is_text(name) and name.strip() and len(name) <= most and name.isprintable():
        return None
    return Problem(_("A name of 1 to %(most)s printable characters is needed."), {"most": most})


def username_problem(name: Any) -> Problem | None:
    """A user name has letters, digits and the signs . @ + - _ only."""
    if isinstance(name, str) and _USERNAME.match(name):
        return None
    return Problem(_("1 to 150 letters, digits or . @ + - _ are needed."))


def currency_problem(currency: Any) -> Problem | None:
    """A currency is its three-letter code."""
    if isinstance(currency, str) and _CURRENCY.match(currency):
        return None
    return Problem(_("A currency of three capital letters is needed."))


def role_problem(role: Any, *, in_organization: bool, in_project: bool) -> Problem | None:
    """A role is held where it belongs: on the platform, in an organization, or in a project."""
    inside = OF_PROJECT if in_project else OF_PLATFORM
    known = OF_ORGANIZATION if in_organization else inside
    if role in known:
        return None
    return Problem(_("Choose from: %(known)s."), {"known": ", ".join(sorted(known))})
