"""What a request names for its work: judged before anybody decides, kept for what runs by its yes.

A request that is for work, or for a schedule, or about a lease, repeats what those use: it was
judged there, and changes only there.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext

from pool.errors import Invalid
from pool.models.catalogue.environments import Environment
from pool.models.catalogue.storage import Storage
from pool.models.requests import Request
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.users import User
from pool.rules.catalogue import root_of
from pool.rules.catalogue_images import fitted
from pool.rules.needs import changed, to_mapping
from pool.rules.problems import Problem
from pool.services.approvals.asking import Asking
from pool.services.catalogue.judging import (
    given_for,
    given_from,
    given_judged,
    given_kept,
    inside_of,
)
from pool.services.refusals import said
from pool.services.surroundings.runners import runner_for
from pool.services.wishes import need_wished, partitions_wished

FITTED = ("vendors", "min_driver", "storage")
"""Words of the need that what is given may add to: without it they are as they were `before`."""


def asked_judged(
    *, asking: Asking, user: User, project: Project, version: TemplateVersion
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The need with what is given, and what is given, both as rows keep them.

    Raises:
        Invalid: by field: it is not there, not the person's to use, on no node, or does not fit.
    """
    ready = given_judged(
        given=asking.given,
        user=user,
        project=project,
        version=version,
        need=asking.need,
        env={},
        files=(),
        image=asking.image,
    )
    need = need_wished(template_version=version, overrides=ready.need)
    if image := ready.image or asking.image:
        places = partitions_wished(project=project, wanted=asking.partitions)
        runner_for(image=image, partitions=places, cards=need.parts > 0)
    plain = to_mapping(need_wished(template_version=version, overrides=asking.need))
    before = {name: plain.get(name) for name in FITTED}
    return to_mapping(need), given_kept(asking.given) | {"before": before}


def plain_need(request: Request) -> dict[str, Any]:
    """Its need without what the given things ask of a node."""
    return changed(request.need, request.given.get("before") or {})


def asked_rewritten(*, request: Request, asking: Asking) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same for new words of a request. What did not change is not judged anew, so that a
    secret that is gone or a folder whose node is down bars no other change; only the environment
    says again what it needs of another kind of card.

    Raises:
        Invalid: it is wrong, or its work is there and keeps what it was given.
    """
    before = given_kept(given_from(request.given)), request.image
    same = (given_kept(asking.given), asking.image) == before
    if same and asking.need == plain_need(request):
        return request.need, request.given
    if own_words(request) and same:
        return _refitted(request, asking)
    if own_words(request):
        version, user = request.template_version, request.requester
        return asked_judged(asking=asking, user=user, project=request.project, version=version)
    if not same:
        kept = gettext("Its work or its lease is there already and keeps what it was given.")
        raise Invalid(**{"image" if asking.image != request.image else "storage": kept})
    need = need_wished(template_version=request.template_version, overrides=asking.need)
    return to_mapping(need), request.given


def _refitted(request: Request, asking: Asking) -> tuple[dict[str, Any], dict[str, Any]]:
    """Another need with the same given things: the folders they ask for, and what fits the
    environment.

    Raises:
        Invalid: a word of the need is wrong, or the environment never runs on such cards.
    """
    version = request.template_version
    plain = need_wished(template_version=version, overrides=asking.need)
    had = set((request.given.get("before") or {}).get("storage") or ())
    roots = [one for one in request.need.get("storage") or () if one not in had]
    folders = list(dict.fromkeys((*plain.storage, *roots)))
    slug = given_from(request.given).environment
    named = Environment.objects.filter(slug=slug).first() if slug else None
    inside = named or (None if slug or request.image else version.environment)
    words = to_mapping(plain)
    whole = replace(plain, storage=tuple(folders))
    fit: dict[str, Any] | Problem = {
        name: request.need[name]
        for name in ("vendors", "min_driver")
        if slug and name in request.need and name not in words
    }
    if inside is not None:
        fit = fitted(whole, inside_of(inside))
    if isinstance(fit, Problem):
        raise Invalid(environment=said(fit))
    wanted = dict(asking.need) | ({"storage": folders} if roots else {}) | fit
    need = need_wished(template_version=version, overrides=wanted)
    before = {name: words.get(name) for name in FITTED}
    return to_mapping(need), request.given | {"before": before}


def asked_anew(*, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """Need and given of a request that is sent: judged once more, for a draft may have lain long.

    Raises:
        Invalid: something it names is not there, or not its requester's to use, any more.
    """
    if not own_words(request):
        return request.need, request.given
    asking = Asking(
        need=plain_need(request),
        given=given_from(request.given),
        image=request.image,
        partitions=tuple(request.partitions.all()),
    )
    version, user = request.template_version, request.requester
    return asked_judged(asking=asking, user=user, project=request.project, version=version)


def own_words(request: Request) -> bool:
    """Whether it names things itself, for work that is still to come."""
    if request.alters_id is not None or "like" in request.given:
        return False
    return not (request.workloads.exists() or request.schedules.exists())


def need_left(*, request: Request) -> dict[str, Any]:
    """Its need without the folders that it names no more; one that only repeats keeps its need."""
    need = dict(request.need)
    if "before" not in request.given or not need.get("storage"):
        return need
    given = given_from(request.given)
    rows = Storage.objects.filter(uid__in=[one.storage for one in given.mounts])
    kept = {root_of(path) for path in rows.values_list("path", flat=True)}
    kept |= set((request.given["before"] or {}).get("storage") or ())
    named = Environment.objects.filter(slug=given.environment).first()
    inside = named or request.template_version.environment
    if inside is not None:
        kept.add(inside.reference)
    return changed(need, {"storage": [one for one in need["storage"] if one in kept] or None})


def given_like(*, request: Request, user: User) -> Mapping[str, Any]:
    """What another request names, for one that continues it: personal secrets of others apart."""
    given = given_kept(given_for(given_from(request.given), user=user))
    return {"given": judged_in(given, request.uid), "image": request.image}


def judged_in(given: Mapping[str, Any], uid: str) -> dict[str, Any]:
    """What is given, as a request keeps it that only repeats it: judged and changed elsewhere."""
    return {**given, "like": uid}
