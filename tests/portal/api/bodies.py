"""Addresses and bodies with which calls may go through, as far as rights are concerned."""

from datetime import timedelta

WINDOW = {
    "reason": "new driver",
    "starts_at": "2099-01-01T00:00:00Z",
    "ends_at": "2099-01-01T01:00:00Z",
    "nodes": ["node-a"],
}
LINE = {"project": "vision", "partition": "a100", "unit": "cards_micro", "limit": 1}
SOON = "2099-01-01T00:00:00Z"
BODIES = {
    ("alert-channels", "create"): {"name": "new", "kind": "mail", "to": "ops@example.org"},
    ("alert-channels", "partial_update"): {"enabled": False},
    ("alert-routes", "create"): {"channel": "ops"},
    ("alert-routes", "partial_update"): {"severity": "critical"},
    ("alert-rules", "create"): {
        "slug": "new",
        "name": "New",
        "family": "hardware",
        "severity": "info",
        "metric": "temperature",
        "scope": "card",
        "aggregate": "max",
        "window_seconds": 60,
        "side": "above",
        "threshold": 70,
    },
    ("alert-rules", "partial_update"): {"threshold": 70},
    ("alert-silences", "create"): {"project": "vision", "ends_at": SOON, "reason": "a move"},
    ("alerts", "receive"): {"alerts": []},
    ("alerts", "silence"): {"seconds": 3600, "reason": "a new fan"},
    ("nodes", "confirm_dead"): {"reason": "burnt"},
    ("advice", "create"): {"project": "vision", "task": "finetuning"},
    ("approval-policies", "create"): {
        "organization": "vision-org",
        "steps": [{"role": "lead"}],
        "reason": "as agreed",
    },
    ("delegations", "create"): {
        "deputy": "vision-member",
        "starts_at": "2099-02-01T00:00:00Z",
        "ends_at": "2099-02-02T00:00:00Z",
    },
    ("budgets", "create"): {"organization": "vision-org", "limit_micro": 10**12},
    ("budgets", "overdraft"): {"overdraft_micro": 1, "until": "2099-01-01", "reason": "a deadline"},
    ("disputes", "decide"): {"accept": False, "answer": "as agreed"},
    ("invoices", "create"): {"organization": "vision-org", "month": "2026-01"},
    ("invoices", "dispute"): {"line_id": "ln-0", "text": "not ours"},
    ("leases", "extend"): {"seconds": 3600},
    ("leases", "resize"): {"copies": 2},
    ("memberships", "create"): {"user": "vision-viewer", "role": "member", "project": "vision"},
    ("group-roles", "create"): {
        "directory": "ldap",
        "group": "cn=vision",
        "role": "member",
        "project": "vision",
    },
    ("group-roles", "update"): {
        "directory": "oidc",
        "group": "vision-heads",
        "role": "lead",
        "project": "vision",
    },
    ("notices", "choose"): {"choices": [{"kind": "people", "channel": "mail", "how": "daily"}]},
    ("notices", "receive"): {"url": "https://example.org/in"},
    ("invitations", "create"): {"email": "new@example.org", "role": "viewer", "project": "vision"},
    ("memberships", "partial_update"): {"role": "viewer"},
    ("organizations", "partial_update"): {"name": "Vision again"},
    ("organizations", "create"): {"slug": "new", "name": "New"},
    ("partitions", "create"): {"slug": "new", "name": "New", "selector": {}, "modes": ["whole"]},
    ("partitions", "partial_update"): {"name": "Other"},
    ("partitions", "preview"): {"selector": {"labels": ["A100-80GB"]}},
    ("contracts", "create"): {"since": "2026-11-01", "tax_milli": 190},
    ("discounts", "create"): {
        "kind": "agreement",
        "milli": 100,
        "starts_at": "2026-11-01T00:00:00Z",
    },
    ("discounts", "end"): {},
    ("overheads", "create"): {
        "first": "2026-11-01",
        "kind": "people",
        "label": "Platform team",
        "currency": "EUR",
        "amount_micro": 10**9,
    },
    ("prices", "effective"): {
        "project": "vision",
        "partition": "a100",
        "card_model": "A100-80GB",
    },
    ("prices", "create"): {"partition": "a100", "rate_micro": 1, "currency": "EUR"},
    ("projects", "create"): {"organization": "vision-org", "slug": "new", "name": "New"},
    ("projects", "archive"): {"wind_down": True},
    ("projects", "move"): {"organization": "vision-org"},
    ("projects", "hold"): {"reason": "an audit"},
    ("projects", "partial_update"): {"most_live": 2000},
    ("projects", "suspend"): {"reason": "unpaid"},
    ("environments", "create"): {
        "slug": "new",
        "name": "New",
        "kind": "folder",
        "reference": "/opt/new",
        "instruction_set": "cpu",
    },
    ("environments", "partial_update"): {"note": "other"},
    ("registries", "create"): {"prefix": "other.example.com"},
    ("secrets", "create"): {"project": "vision", "name": "NEW", "value": "hush"},
    ("secrets", "rotate"): {"value": "hush, too"},
    ("storage", "create"): {"name": "new", "kind": "dataset", "path": "/srv/new"},
    ("storage", "partial_update"): {"note": "other"},
    ("capacity", "period"): {"since": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z"},
    ("reports", "team"): {"organization": "vision-org", "by": "person"},
    ("rollout", "switch"): {
        "partition": "a100",
        "step": "labels",
        "on": True,
        "reason": "looked through",
        "skip": True,
    },
    ("queue", "target"): {"seconds": 600},
    ("configuration", "load"): {"text": "users: []"},
    ("cutbacks", "keep"): {"reason": "a paper is due"},
    ("quota-plans", "create"): {
        "project": "vision",
        "partition": "a100",
        "unit": "cards_micro",
        "does": "set",
        "amount": 1,
        "starts_at": "2027-01-01T00:00:00Z",
        "reason": "the new year",
    },
    ("quotas", "many"): {"lines": [LINE], "reason": "the new year"},
    ("quotas", "preview"): {"lines": [LINE]},
    ("quotas", "update"): {"limit": 1},
    ("quotas", "create"): {
        "project": "vision",
        "partition": "a100",
        "unit": "cards_micro",
        "kind": "allowance",
        "limit": 1,
    },
    ("requests", "ask_back"): {"reason": "why?"},
    ("requests", "comment"): {"text": "hello"},
    ("requests", "reject"): {"reason": "no"},
    ("service-accounts", "create"): {"project": "vision", "username": "ci"},
    ("service-accounts", "issue"): {"name": "runner"},
    ("service-accounts", "revoke"): {"token": "tk-none"},
    ("templates", "fit"): {"need": {"whole": True}},
    ("templates", "partial_update"): {"max_seconds": 86_400},
    ("templates", "create"): {
        "organization": "vision-org",
        "slug": "new",
        "name": "New",
        "need": {"whole": True},
    },
    ("policies", "create"): {"values": {"heavy_gb": 48}, "reason": "larger cards"},
    ("policies", "revert"): {"reason": "it was better"},
    ("seats", "create"): {"name": "vWS", "mode": "vgpu", "total": 4},
    ("windows", "create"): WINDOW,
    ("windows", "partial_update"): {"reason": "other"},
    ("windows", "preview"): WINDOW,
    ("templates", "deactivate"): {"reason": "old"},
    ("templates", "versions"): {"max_seconds": 86_400},
    ("tokens", "create"): {"name": "another"},
    ("users", "partial_update"): {"display_name": "Somebody Else"},
    ("users", "create"): {"username": "new", "project": "vision"},
    ("idle-rules", "create"): {"idle_seconds": 3600, "project": "vision", "partition": "a100"},
    ("idle-rules", "partial_update"): {"keeps": 1},
    ("idle-rules", "preview"): {"idle_seconds": 600, "project": "vision"},
    ("records", "create"): {"since": "2026-01-01T00:00:00Z", "until": "2026-01-08T00:00:00Z"},
    ("what-ifs", "copy"): {"name": "again"},
    ("what-ifs", "partial_update"): {"name": "other"},
    ("workloads", "night"): {"until": SOON, "reason": "a long run"},
    ("workloads", "share"): {"until": SOON},
    ("workloads", "night_answer"): {"answer": "granted"},
    ("workloads", "change"): {"change": "shorter", "amount": 60},
    ("workloads", "declare"): {"expected_seconds": 60},
    ("workloads", "preempt"): {"reason": "a burning rack"},
    ("organizations", "critical_grant"): {"month": "2099-01-01", "card_hours": 10},
    ("workloads", "partial_update"): {"after": []},
    ("workloads", "rank"): {"priority": "high", "reason": "a deadline"},
}


def address_of(world, tenant, noun):
    """The address of one of the tenant's rows."""
    if noun == "tokens":
        return tenant.people["member"].user.api_tokens.get().uid
    named = {
        "alert-channels": world.alert_channel,
        "alert-deliveries": world.alert_delivery,
        "alert-routes": world.alert_route,
        "alert-rules": world.alert_rule,
        "alert-silences": tenant.silence,
        "alerts": tenant.alert,
        "budgets": tenant.budget,
        "cards": tenant.hold.card,
        "disputes": tenant.dispute,
        "delegations": tenant.delegation,
        "environments": tenant.environment,
        "found-work": world.found,
        "group-roles": world.group_role,
        "idle-rules": tenant.idle_rule,
        "invitations": tenant.invitation,
        "invoices": tenant.invoice,
        "join-tokens": world.join_token,
        "leases": tenant.lease,
        "memberships": tenant.membership,
        "nodes": world.node,
        "organizations": tenant.organization,
        "partitions": world.partition,
        "placements": tenant.placement,
        "policies": world.policy,
        "prices": world.price,
        "projects": tenant.project,
        "contracts": world.contract,
        "cutbacks": tenant.cutback,
        "discounts": world.discount,
        "overheads": world.overhead,
        "quota-plans": tenant.planned_quota,
        "quotas": tenant.quota,
        "records": tenant.study.trace,
        "registries": world.registry,
        "requests": tenant.request,
        "reservations": tenant.reservation,
        "schedules": tenant.schedule,
        "seats": world.seats,
        "service-accounts": tenant.account,
        "secrets": tenant.secret,
        "slices": tenant.slice,
        "storage": tenant.storage,
        "templates": world.version.template,
        "usage": tenant.usage,
        "users": tenant.owner,
        "what-ifs": tenant.study,
        "windows": world.window,
        "workloads": tenant.workload,
    }
    return str(tenant.event_id) if noun == "events" else named[noun].uid


def recalled(world):
    """A recall half an hour before the lease's end."""
    soon = world.own.lease.valid[1] - timedelta(minutes=30)
    return {"ends_at": soon.isoformat(), "reason": "cards are needed"}


def asked_of(world):
    """A request for an hour."""
    return {"project": "vision", "template": world.version.template.slug, **HOUR}


def read_of(world):
    """The tenant's request as it was read."""
    asked = world.own.request
    return {"requests": [{"uid": asked.uid, "revision": asked.revision}]}


def named_of(world):
    """The tenant's request by its uid."""
    return {"requests": [world.own.request.uid]}


def tried_of(world):
    """Another number of planned starts, on the tenant's own record."""
    changes = {"numbers": {"heads": 2}}
    return {"name": "more", "record": world.own.study.trace.uid, "changes": changes}


MADE = {
    ("what-ifs", "create"): tried_of,
    ("leases", "recall"): recalled,
    ("baseline", "diagnose"): lambda world: {"workload": world.own.workload.uid},
    ("workloads", "create"): lambda world: world.job(),
    ("schedules", "create"): lambda world: {**world.job(), "cron": "0 2 * * *"},
    ("requests", "create"): asked_of,
    ("reservations", "create"): asked_of,
    ("requests", "approve_together"): read_of,
    ("requests", "check_together"): named_of,
    ("requests", "undo_together"): named_of,
    ("quotas", "undo"): lambda world: {"change": world.own.quota_change, "reason": "too much"},
    ("quota-drifts", "repair"): lambda world: {"quota": world.drifted.uid},
}
"""Bodies that name rows of the world."""


def body_of(world, noun, action):
    """A body with which the action may go through, as far as rights are concerned."""
    made = MADE.get((noun, action))
    return made(world) if made else BODIES.get((noun, action), {})


HOUR = {"duration_seconds": 3600}
