"""An example of every body, for OpenAPI: from the serializer itself, with telling values."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

VALUES: Mapping[str, Any] = {
    "project": "vision",
    "organization": "vision-org",
    "template": "finetune-20g-30",
    "partition": "a100",
    "partitions": ["a100"],
    "user": "mei",
    "deputy": "lena",
    "heir": "lena",
    "username": "ada",
    "email": "ada@example.org",
    "display_name": "Ada",
    "slug": "vision",
    "name": "Vision",
    "title": "Sweep over the learning rate",
    "purpose": "The paper is due on Friday.",
    "reason": "as agreed with the team",
    "text": "What is it for?",
    "note": "since the new driver",
    "comment": "second try",
    "command": ["python", "train.py"],
    "role": "member",
    "group": "cn=vision",
    "zone": "Europe/Berlin",
    "currency": "EUR",
    "cost_centre": "4711",
    "card_model": "A100-80GB",
    "selector": {"labels": ["A100-80GB"]},
    "modes": ["whole", "mig"],
    "need": {"parts": 1, "memory_gb": 20, "compute_percent": 30},
    "unit": "cards_micro",
    "kind": None,
    "limit": 8_000_000,
    "amount": 2_000_000,
    "seconds": 3600,
    "duration_seconds": 86_400,
    "expected_seconds": 3600,
    "copies": 2,
    "starts_at": "2027-01-04T08:00:00Z",
    "ends_at": "2027-01-05T08:00:00Z",
    "since": "2027-01-01T00:00:00Z",
    "until": "2027-02-01T00:00:00Z",
    "month": "2027-01",
    "path": "/srv/data",
    "url": "https://hooks.example.org/gpu",
    "prefix": "registry.example.org/team",
    "reference": "registry.example.org/torch@sha256:" + "0" * 64,
    "value": "hf_…",
    "password": "a long and odd sentence",
    "revision": 1,
    "steps": [{"role": "lead"}, {"role": "org_admin", "above": {"cards": 8, "days": 14}}],
}
"""What a field of that name says in an example; None: as its type says."""

WHOLE: Mapping[str, Mapping[str, Any]] = {
    "ChoicesIn": {"choices": [{"kind": "people", "channel": "mail", "how": "daily"}]},
    "MembershipIn": {"user": "mei", "role": "member", "project": "vision"},
    "InvitationIn": {"email": "ada@example.org", "role": "member", "project": "vision"},
    "GroupRoleIn": {
        "directory": "ldap",
        "group": "cn=vision",
        "role": "member",
        "project": "vision",
    },
    "UserIn": {
        "username": "ada",
        "email": "ada@example.org",
        "project": "vision",
        "role": "member",
    },
    "ApproveIn": {"revision": 1, "changes": {"copies": 1}, "reason": "one at a time is enough"},
    "InvoiceIn": {"organization": "vision-org", "month": "2026-01"},
    "ResizeIn": {"copies": 3, "purpose": "two more people work on it"},
    "VersionIn": {"need": {"memory_gb": 20, "compute_percent": 30}, "max_seconds": 86_400},
    "QuotaIn": {
        "project": "vision",
        "partition": "a100",
        "card_model": "A100-80GB",
        "unit": "cards_micro",
        "kind": "limit",
        "limit": 8_000_000,
        "reason": "the new year",
    },
}
"""Bodies whose fields belong together, by the name of their serializer."""

PLAIN: tuple[tuple[type[serializers.Field[Any, Any, Any, Any]], Any], ...] = (
    (serializers.BooleanField, True),
    (serializers.IntegerField, None),
    (serializers.FloatField, 1.5),
    (serializers.DecimalField, "1.5"),
    (serializers.DateTimeField, "2027-01-04T08:00:00Z"),
    (serializers.DateField, "2027-01-04"),
    (serializers.EmailField, "ada@example.org"),
    (serializers.URLField, "https://example.org/"),
    (serializers.RegexField, "rq-01234567-89ab-7def-8123-456789abcdef"),
    (serializers.DictField, {}),
    (serializers.JSONField, {}),
    (serializers.CharField, "text"),
)
ENOUGH = 3
"""So many fields of a body that needs none are shown."""


def example_of(shape: serializers.BaseSerializer[Any]) -> Any:
    """A body that the serializer reads: what it needs; of one that needs nothing a few fields."""
    if isinstance(shape, serializers.ListSerializer):
        child = shape.child
        return [example_of(child)] if isinstance(child, serializers.BaseSerializer) else []
    if not isinstance(shape, serializers.Serializer):
        return {}
    found = WHOLE.get(type(shape).__name__)
    if found is not None:
        return dict(found)
    fields = {name: field for name, field in shape.fields.items() if not field.read_only}
    needed = [name for name, field in fields.items() if field.required]
    shown = needed or [name for name in fields if name in VALUES][:ENOUGH] or list(fields)[:ENOUGH]
    return {name: value_of(name, fields[name]) for name in shown}


def value_of(name: str, field: Any) -> Any:
    """What one field says: by its name, by its choices, by its type."""
    if isinstance(field, serializers.BaseSerializer):
        return example_of(field)
    if isinstance(field, serializers.ListField):
        said = VALUES.get(name)
        return said if isinstance(said, list) else [value_of(name, field.child)]
    if isinstance(field, serializers.ChoiceField):
        choices = list(field.choices)
        return VALUES[name] if VALUES.get(name) in choices else choices[0]
    if isinstance(field, serializers.DateField):
        return "2027-01-04"
    if VALUES.get(name) is not None and not isinstance(VALUES[name], list):
        return VALUES[name]
    if isinstance(field, serializers.IntegerField):
        return max(1, field.min_value or 0)
    return next((value for kind, value in PLAIN if isinstance(field, kind)), "text")
