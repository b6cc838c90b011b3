"""Sections of who may: groups of directories with their roles, policies of approval."""

from collections.abc import Iterable

from pool.errors import Invalid
from pool.events import Actor
from pool.models.approvals.policies import ApprovalPolicy
from pool.models.people.groups import GroupRole
from pool.models.users import User
from pool.services.approvals.policies import approval_policy_set
from pool.services.imports.sections import Section, Words, tree, whole
from pool.services.imports.tenants import organization_named, project_named
from pool.services.people.groups import group_role_set

HOURS = ("answer_hours", "remind_hours", "escalate_hours")
_WHY = "loaded from a file"
_NAMED = {"source": "directory"}
"""What the service calls otherwise than the file."""


def _groups() -> Iterable[Words]:
    for row in GroupRole.objects.select_related("organization", "project").order_by("pk"):
        yield {
            "directory": row.source,
            "group": row.group,
            "role": row.role,
            "organization": row.organization.slug if row.organization else "",
            "project": row.project.slug if row.project else "",
        }


def _group(words: Words, actor: Actor) -> None:
    whose, project = words.get("organization"), words.get("project")
    try:
        group_role_set(
            source=words.get("directory", ""),
            group=words.get("group", ""),
            role=words.get("role", ""),
            organization=organization_named(whose) if whose else None,
            project=project_named(project) if project else None,
            actor=actor,
        )
    except Invalid as wrong:
        said = {_NAMED.get(name, name): texts for name, texts in wrong.detail.items()}
        plain = {name: " ".join(map(str, texts)) for name, texts in said.items()}
        raise Invalid(**plain) from wrong


def _policies() -> Iterable[Words]:
    """The newest of each organization, and of all."""
    seen: set[int | None] = set()
    rows = ApprovalPolicy.objects.select_related("organization").order_by("-number")
    for row in sorted(rows, key=lambda one: one.organization.slug if one.organization else ""):
        if row.organization_id in seen:
            continue
        seen.add(row.organization_id)
        yield {
            "organization": row.organization.slug if row.organization else "",
            "steps": row.steps,
            **{name: getattr(row, name) for name in HOURS},
            "calendar": row.calendar,
        }


def _policy(words: Words, actor: Actor) -> None:
    whose = words.get("organization")
    usual = ApprovalPolicy()
    hours = {
        name: getattr(usual, name) if words.get(name) is None else words[name] for name in HOURS
    }
    approval_policy_set(
        organization=organization_named(whose) if whose else None,
        steps=words.get("steps") or [],
        calendar=words.get("calendar") or {},
        reason=_WHY,
        user=User.objects.filter(uid=actor.user_uid).first() if actor.user_uid else None,
        actor=actor,
        **hours,
    )


RULES = (
    Section(
        name="groups",
        keys=("directory", "group", "role", "organization", "project"),
        words=("directory", "group", "role", "organization", "project"),
        rows=_groups,
        load=_group,
        plain={},
    ),
    Section(
        name="approval_policies",
        keys=("organization",),
        words=("organization", "steps", *HOURS, "calendar"),
        rows=_policies,
        load=_policy,
        plain={"steps": tree, "calendar": tree, **dict.fromkeys(HOURS, whole)},
    ),
)
"""After the places that they are about."""
