"""The words of a request in their shape: what may be said, what is kept, what changes a price."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from pool.clock import now
from pool.errors import Invalid
from pool.lifecycle.leases import LeaseKind
from pool.models.partitions import Partition
from pool.models.requests import Request
from pool.models.templates import TemplateVersion
from pool.rules.needs import SIZES, Need
from pool.rules.requests import request_problems
from pool.rules.workloads import image_problem
from pool.services.catalogue.judging import Given
from pool.services.refusals import refuse
from pool.services.wishes import partitions_wished

KEPT = (
    "need",
    "copies",
    "duration_seconds",
    "lease_kind",
    "starts_at",
    "title",
    "purpose",
    "weights",
    "image",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The words of a request, as far as its requester may choose them."""

    need: Mapping[str, Any] = field(default_factory=dict)
    copies: int = 1
    duration_seconds: int = 0
    lease_kind: str = LeaseKind.ON_DEMAND
    starts_at: datetime | None = None
    partitions: tuple[Partition, ...] = ()
    title: str = ""
    purpose: str = ""
    weights: Mapping[str, float] = field(default_factory=dict)
    given: Given = field(default_factory=Given)
    image: str = ""


def asking_of(template_version: TemplateVersion, words: Mapping[str, Any]) -> Asking:
    """The words in their shape, checked one by one.

    Raises:
        Invalid: a word is unknown or wrong.
    """
    strange = set(words) - set(Asking.__dataclass_fields__)
    if strange:
        raise Invalid(**{name: gettext("This is not a part of a request.") for name in strange})
    given = {name: value for name, value in words.items() if value is not None}
    if not given.get("duration_seconds"):
        given["duration_seconds"] = template_version.default_seconds
    asking = Asking(**given)
    refuse(
        request_problems(
            title=asking.title,
            purpose=asking.purpose,
            copies=asking.copies,
            seconds=asking.duration_seconds,
            most_seconds=template_version.max_seconds,
            lease_kind=asking.lease_kind,
            starts_at=asking.starts_at,
            now=now(),
            weights=asking.weights,
        )
        | {"image": image_problem(asking.image)}
    )
    return asking


def columns_of(asking: Asking) -> dict[str, Any]:
    """The words as the row keeps them, without the need and what is given."""
    words = {name: getattr(asking, name) for name in KEPT if name != "need"}
    return words | {"weights": dict(asking.weights), "title": asking.title.strip()}


def same_price(old: Need, need: Need) -> bool:
    """Whether a second of a card can cost no more than before: nothing but its size has changed.

    Otherwise the old weights say nothing of the new need, and unknown ones pass every limit.
    """
    plain = {name: getattr(need, name) for name in (*SIZES, "parts", "proportional")}
    return replace(old, **plain) == need


def places_of(request: Request, words: Mapping[str, Any], asking: Asking) -> tuple[Partition, ...]:
    """The partitions of the new words; another kind of card looks at all of them again."""
    if "partitions" in words:
        return partitions_wished(project=request.project, wanted=asking.partitions)
    other_cards = {"vendors", "labels", "models"} & set(words.get("need") or {})
    wanted = () if other_cards else tuple(request.partitions.all())
    return partitions_wished(project=request.project, wanted=wanted)
