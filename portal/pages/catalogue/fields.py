"""Fields of forms for work and for requests: what is to be used of the catalogues."""

from dataclasses import replace
from typing import Any

from django import forms
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from pool.lifecycle.catalogue import SecretForm
from pool.models import Environment, Request, Schedule, Secret, Storage, Workload
from pool.rules.catalogue import Mounted, Told
from pool.selectors.catalogue.lists import environment_list, given_to, secret_list, storage_list
from pool.selectors.memberships import Standing
from pool.services.catalogue.giving import work_warnings
from pool.services.catalogue.judging import Given, given_from

LINES = range(1, 4)
"""So many storage objects and secrets fit the form; scripts may give more."""

FORMS = [(SecretForm.ENV.value, _("a variable")), (SecretForm.FILE.value, _("a file"))]


class GivenFields(forms.Form):
    """An environment or an image, three storage objects with their places, three secrets."""

    environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.none(),
        to_field_name="slug",
        required=False,
        empty_label=_("the template's, or none"),
        help_text=_("An image or a folder of programs; what cannot run on the cards is refused."),
    )
    image = forms.CharField(
        label=_("Image"),
        max_length=255,
        required=False,
        widget=forms.TextInput(attrs={"class": "gp-mono", "spellcheck": "false"}),
        help_text=_(
            "It runs in a container of it, for example registry.example.org/team/train:2. "
            "Left empty: as a process of the node."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        standing: Standing = kwargs["standing"]
        for n in LINES:
            self.fields[f"storage_{n}"] = forms.ModelChoiceField(
                label=_("Storage"),
                queryset=storage_list(standing=standing).filter(active=True),
                to_field_name="uid",
                required=False,
                empty_label=_("none"),
            )
            self.fields[f"storage_{n}_at"] = forms.CharField(
                label=_("Beside its files as"),
                max_length=200,
                required=False,
                help_text=_("A relative path, for example data.") if n == 1 else "",
            )
            self.fields[f"secret_{n}"] = forms.ModelChoiceField(
                label=_("Secret"),
                queryset=secret_list(standing=standing),
                to_field_name="uid",
                required=False,
                empty_label=_("none"),
            )
            self.fields[f"secret_{n}_form"] = forms.ChoiceField(
                label=_("As"), choices=FORMS, required=False
            )
            self.fields[f"secret_{n}_name"] = forms.CharField(
                label=_("Called"), max_length=63, required=False
            )
        field = self.fields["environment"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = environment_list(standing=standing).filter(active=True)

    def offer_named(self, given: Given, standing: Standing) -> None:
        """Offer, too, what a row names already and nobody else is offered any more: an edit of
        other words must not take it away."""
        uids = [one.storage for one in given.mounts]
        storage = storage_list(standing=standing).filter(Q(active=True) | Q(uid__in=uids))
        known = Q(active=True) | Q(slug=given.environment)
        environments = environment_list(standing=standing).filter(known)
        offered = {f"storage_{n}": storage for n in LINES} | {"environment": environments}
        for name, rows in offered.items():
            self.fields[name].queryset = rows  # type: ignore[attr-defined]

    @property
    def storage_fields(self) -> list[tuple[forms.BoundField, ...]]:
        """The fields of storage, a line each."""
        return [(self[f"storage_{n}"], self[f"storage_{n}_at"]) for n in LINES]

    @property
    def secret_fields(self) -> list[tuple[forms.BoundField, ...]]:
        """The fields of secrets, a line each."""
        names = ("secret_{}", "secret_{}_form", "secret_{}_name")
        return [tuple(self[name.format(n)] for name in names) for n in LINES]

    @property
    def given_open(self) -> bool:
        """Whether something of it is filled in, or wrong."""
        lines = (*self.storage_fields, *self.secret_fields)
        fields = (self["environment"], self["image"], *(one for line in lines for one in line))
        said = (one for one in fields if not one.name.endswith("_form"))
        return any(one.value() or one.errors for one in said)

    @property
    def given(self) -> Given:
        """As the service takes it."""
        data = self.cleaned_data
        mounts, secrets = [], []
        for n in LINES:
            storage: Storage | None = data.get(f"storage_{n}")
            if storage is not None:
                at = data[f"storage_{n}_at"].strip() or storage.name.replace(" ", "-")
                mounts.append(Mounted(storage.uid, at))
            secret: Secret | None = data.get(f"secret_{n}")
            if secret is not None:
                name = data[f"secret_{n}_name"].strip() or secret.name
                secrets.append(Told(secret.uid, name, data[f"secret_{n}_form"] or "env"))
        environment = data.get("environment")
        return Given(mounts, secrets, environment.slug if environment else "")


def given_words(workload: Workload) -> dict[str, Any]:
    """What a workload uses of the catalogues, for its page."""
    storage, secrets = given_to(workload=workload)
    return {
        "given_storage": storage,
        "given_secrets": secrets,
        "warnings": work_warnings(workload=workload),
    }


def given_named(row: Schedule | Request) -> dict[str, Any]:
    """What a schedule or a request names for its work; what is gone by now keeps its key."""
    given = given_from(row.given)
    keys = [one.storage for one in given.mounts]
    storage = dict(Storage.objects.filter(uid__in=keys).values_list("uid", "name")) if keys else {}
    keys = [one.secret for one in given.secrets]
    secrets = dict(Secret.objects.filter(uid__in=keys).values_list("uid", "name")) if keys else {}
    return {
        "named_storage": [(storage.get(one.storage, one.storage), one) for one in given.mounts],
        "named_secrets": [(secrets.get(one.secret, one.secret), one) for one in given.secrets],
        "named_environment": given.environment,
        "named_image": row.image,
    }


def with_the_rest(said: Given, before: Given) -> Given:
    """What a form says, with what it could not show: access modes, whatever its place is called
    now, and lines beyond its own."""
    shown = len(LINES)
    mounts, left = [], list(before.mounts[:shown])
    for one in said.mounts:
        alike = [was for was in left if was.storage == one.storage]
        same = next((was for was in alike if was.at == one.at), alike[0] if alike else None)
        if same is not None:
            left.remove(same)
        mounts.append(replace(one, mode=same.mode if same else one.mode))
    return replace(
        said,
        mounts=[*mounts, *before.mounts[shown:]],
        secrets=[*said.secrets, *before.secrets[shown:]],
    )


def filled_in(given: Given) -> dict[str, Any]:
    """The fields as they were for earlier work; what does not fit the form is left out."""
    start: dict[str, Any] = {"environment": given.environment}
    for n, mount in zip(LINES, given.mounts, strict=False):
        start |= {f"storage_{n}": mount.storage, f"storage_{n}_at": mount.at}
    for n, told in zip(LINES, given.secrets, strict=False):
        start |= {f"secret_{n}": told.secret, f"secret_{n}_form": told.form}
        start[f"secret_{n}_name"] = told.name
    return start
