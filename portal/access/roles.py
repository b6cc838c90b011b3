"""PURE: one table of which role may do what; pages, REST and sockets all ask it."""

from enum import StrEnum

from pool.lifecycle.roles import Role


class Verb(StrEnum):
    """What can be done, noun first. `_any` means to other people's things as well."""

    WORK_SEE = "work.see"
    WORK_SUBMIT = "work.submit"
    WORK_STOP = "work.stop"
    WORK_STOP_ANY = "work.stop_any"
    WORK_PREEMPT = "work.preempt"
    CRITICAL_GRANT = "critical.grant"
    WORK_RANK = "work.rank"
    NOTEBOOK_OPEN = "notebook.open"
    IDLE_SET = "idle.set"
    QUEUE_STEER = "queue.steer"
    REQUEST_MAKE = "request.make"
    REQUEST_CHANGE_ANY = "request.change_any"
    REQUEST_DECIDE = "request.decide"
    LEASE_GIVE_BACK = "lease.give_back"
    LEASE_RECALL = "lease.recall"
    APPROVAL_POLICY_SET = "approval_policy.set"
    COST_SEE = "cost.see"
    QUOTA_SEE = "quota.see"
    QUOTA_SET = "quota.set"
    QUOTA_DEAL = "quota.deal"
    ALLOWANCE_SET = "allowance.set"
    MEMBER_MANAGE = "member.manage"
    PROJECT_MANAGE = "project.manage"
    ORGANIZATION_MANAGE = "organization.manage"
    ORGANIZATION_CHANGE = "organization.change"
    ACCOUNT_MANAGE = "account.manage"
    GROUP_MANAGE = "group.manage"
    USER_MANAGE = "user.manage"
    TEMPLATE_MANAGE = "template.manage"
    PARTITION_MANAGE = "partition.manage"
    NODE_SEE = "node.see"
    NODE_MANAGE = "node.manage"
    WINDOW_MANAGE = "window.manage"
    POLICY_MANAGE = "policy.manage"
    SEATS_MANAGE = "seats.manage"
    PRICE_MANAGE = "price.manage"
    MONTH_CLOSE = "month.close"
    CAPACITY_SEE = "capacity.see"
    CAPACITY_PLAN = "capacity.plan"
    EVENT_SEE = "event.see"
    SECRET_MANAGE = "secret.manage"  # noqa: S105
    STORAGE_MANAGE = "storage.manage"
    ENVIRONMENT_MANAGE = "environment.manage"
    ALERT_ACT = "alert.act"
    ALERT_MANAGE = "alert.manage"


V = Verb

_VIEWER = frozenset({V.WORK_SEE, V.COST_SEE, V.QUOTA_SEE})
_MEMBER = _VIEWER | {V.WORK_SUBMIT, V.WORK_STOP, V.NOTEBOOK_OPEN, V.REQUEST_MAKE}
_LEAD = _MEMBER | {
    V.WORK_STOP_ANY,
    V.WORK_RANK,
    V.REQUEST_CHANGE_ANY,
    V.REQUEST_DECIDE,
    V.LEASE_GIVE_BACK,
    V.MEMBER_MANAGE,
    V.SECRET_MANAGE,
    V.ACCOUNT_MANAGE,
    V.EVENT_SEE,
    V.ALERT_ACT,
}
_ORG_ADMIN = _LEAD | {
    V.LEASE_RECALL,
    V.IDLE_SET,
    V.APPROVAL_POLICY_SET,
    V.ALLOWANCE_SET,
    V.QUOTA_DEAL,
    V.PROJECT_MANAGE,
    V.ORGANIZATION_CHANGE,
    V.USER_MANAGE,
    V.TEMPLATE_MANAGE,
    V.ENVIRONMENT_MANAGE,
    V.MONTH_CLOSE,
    V.CAPACITY_SEE,
    V.CAPACITY_PLAN,
}

MAY: dict[Role, frozenset[Verb]] = {
    Role.VIEWER: _VIEWER,
    Role.BILLING_READER: frozenset({V.COST_SEE, V.QUOTA_SEE}),
    Role.MEMBER: _MEMBER,
    Role.LEAD: _LEAD,
    Role.ORG_ADMIN: _ORG_ADMIN,
    Role.PLATFORM_ADMIN: frozenset(Verb),
}
"""The whole table. A role counts where it is held: lead, member and viewer in a project, the
organization's roles in all of its projects, the platform's everywhere."""


def allowed(roles: frozenset[Role], verb: Verb) -> bool:
    """Whether one of the roles, held where the thing lives, allows the verb."""
    return any(verb in MAY[role] for role in roles)
