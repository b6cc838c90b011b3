"""What work may say of storage, secrets and its environment, and what it is told of them."""

from dataclasses import replace
from typing import Any

from rest_framework import serializers

from pool.lifecycle.catalogue import Access, SecretForm
from pool.models import Workload
from pool.rules.catalogue import MOST_GIVEN, Mounted, Told
from pool.services.catalogue.giving import given_again
from pool.services.catalogue.judging import Given as Wanted
from portal.api.door import UID
from portal.api.fields import Given


class MountIn(Given):
    """A storage object and where it is to lie in the folder that the command starts in."""

    storage = serializers.RegexField(f"^{UID}$")
    at = serializers.CharField(max_length=200, help_text="A relative path, for example data.")
    mode = serializers.ChoiceField(
        choices=[one.value for one in Access],
        default="",
        allow_blank=True,
        help_text="Left out: as the object allows.",
    )


class TellIn(Given):
    """A secret and what its variable, or its file in $GPUPOOL_SECRETS, is called."""

    secret = serializers.RegexField(f"^{UID}$")
    name = serializers.CharField(max_length=63)
    form = serializers.ChoiceField(
        choices=[one.value for one in SecretForm], default=SecretForm.ENV.value
    )


class GivenIn(Given):
    """Fields of work that name what it is to use; made again, what is not named stays as it was."""

    storage = serializers.ListField(child=MountIn(), required=False, max_length=MOST_GIVEN)
    secrets = serializers.ListField(child=TellIn(), required=False, max_length=MOST_GIVEN)
    environment = serializers.SlugField(
        max_length=63,
        required=False,
        allow_blank=True,
        help_text="From the catalogue; left out: the template's.",
    )


class GivenOut(serializers.Serializer[Any]):
    """What a schedule or a request names for its work; never a secret's value."""

    storage = serializers.ListField(child=MountIn(), source="given.mounts", default=list)
    secrets = serializers.ListField(child=TellIn(), source="given.secrets", default=list)
    environment = serializers.CharField(source="given.environment", default="")


class MountOut(serializers.Serializer[Any]):
    """A storage object of work, and its place on the nodes."""

    storage = serializers.CharField(source="storage.uid")
    name = serializers.CharField(source="storage.name")
    at = serializers.CharField()
    path = serializers.CharField()
    mode = serializers.CharField()


class TellOut(serializers.Serializer[Any]):
    """A secret of work; never its value."""

    secret = serializers.CharField(source="secret.uid")
    name = serializers.CharField()
    form = serializers.CharField()


def wanted(given: dict[str, Any]) -> Wanted:
    """Take the fields of `GivenIn` out of a body."""
    return Wanted(
        mounts=[Mounted(**one) for one in given.pop("storage", ())],
        secrets=[Told(**one) for one in given.pop("secrets", ())],
        environment=given.pop("environment", ""),
    )


def wanted_under(given: dict[str, Any]) -> Wanted | None:
    """The same of work that may run under a lease: None, where it names nothing at all, is what
    the lease's request named."""
    names = ("storage", "secrets", "environment")
    said = any(name in given for name in names) or bool(given.get("image"))
    return wanted(given) if said else None


def changed(before: Wanted, words: dict[str, Any]) -> Wanted | None:
    """What was given before, with what a body says different, taken out of it; None for nothing."""
    said = {name for name in ("storage", "secrets", "environment") if name in words}
    if not said:
        return None
    told = wanted(words)
    return Wanted(
        mounts=told.mounts if "storage" in said else before.mounts,
        secrets=told.secrets if "secrets" in said else before.secrets,
        environment=told.environment if "environment" in said else before.environment,
    )


def again(old: Workload, words: dict[str, Any], given: dict[str, Any]) -> Wanted:
    """What the old work was given, with what the body says different; taken out of `words`."""
    changes = {"storage": "mounts", "secrets": "secrets", "environment": "environment"}
    said: dict[str, Any] = {name: words.pop(name) for name in changes if name in words}
    kept = given_again(workload=old)
    if "image" in given:
        kept = replace(kept, environment="")
    elif kept.environment:
        words["image"] = ""
    new = wanted(dict(said))
    return replace(kept, **{changes[name]: getattr(new, changes[name]) for name in said})
