"""What a request names for its work: judged before anybody decides, kept, and given to the work."""

import pytest

from pool.errors import Invalid
from pool.events import SYSTEM
from pool.models import Environment, Node, Notice, Request, Storage
from pool.rules.catalogue import Mounted, Told
from pool.services.catalogue.environments import environment_create, environment_remove
from pool.services.catalogue.giving import work_submit
from pool.services.catalogue.judging import Given, given_from
from pool.services.catalogue.secrets import secret_remove, secret_set
from pool.services.decisions import request_approve
from pool.services.extensions import lease_extension_ask, lease_resize_ask
from pool.services.people.leavers import leavers_due, user_leave
from pool.services.requests import (
    request_draft,
    request_edit,
    request_send,
    request_submit,
)
from tests import factories as make
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(world):
    """A storage object that the node has."""
    watch("/srv/data", "/opt/torch")
    return rows.storage(name="data", path="/srv/data")


@pytest.fixture
def secret(world):
    found, _new = secret_set(name="TOKEN", value="s3cret", user=world.member, actor=SYSTEM)
    return found


@pytest.fixture
def given(folder, secret):
    return Given([Mounted(folder.uid, "data")], [Told(secret.uid, "TOKEN")])


def watch(*paths):
    for node in Node.objects.all():
        Node.objects.filter(pk=node.pk).update(host=node.host | {"mounts": list(paths)})


def torch(slug="torch", **words):
    said = {
        "name": slug,
        "kind": "folder",
        "reference": "/opt/torch",
        "instruction_set": "cuda",
        "min_driver": "550.1",
    }
    return environment_create(slug=slug, actor=SYSTEM, **said | words)


def ask(world, act=request_submit, **words):
    said = {
        "user": world.member,
        "project": world.project,
        "template_version": world.finetune,
        "actor": make.by(world.member),
        "weights": make.FREE,
        "need": {"memory_gb": 40},
    }
    return act(**said | words)


def edit(world, asked, **words):
    return request_edit(
        request=asked, user=world.member, actor=make.by(world.member), weights=make.FREE, **words
    )


def approve(world, asked, **words):
    return request_approve(
        request=asked, user=world.lead, actor=make.by(world.lead), weights=make.FREE, **words
    )


def work(world, **words):
    said = {
        "user": world.member,
        "project": world.project,
        "template_version": world.finetune,
        "command": ["true"],
        "need": {"memory_gb": 40},
        "actor": make.by(world.member),
    }
    return work_submit(**said | words)


def used(made):
    return (
        [(use.at, use.path) for use in made.storage_uses.all()],
        [use.name for use in made.secret_uses.all()],
    )


def test_what_a_request_names_is_kept_by_name_and_asks_its_node_for_it(world, given):
    torch()
    asked = ask(world, given=Given(given.mounts, given.secrets, "torch"))
    assert "s3cret" not in str(asked.given)
    assert given_from(asked.given).environment == "torch"
    assert asked.need["storage"] == ["/srv/data", "/opt/torch"]
    assert (asked.need["vendors"], asked.need["min_driver"]) == (["nvidia"], "550.1")


@pytest.mark.parametrize("act", [request_draft, request_submit])
def test_what_is_not_there_or_not_ones_own_is_refused_before_anybody_decides(
    world, given, secret, act
):
    foreign, _new = secret_set(
        name="HERS", value="x", user=rows.member(world.project), actor=SYSTEM
    )
    elsewhere = rows.storage(name="far", path="/srv/far")
    before = Request.objects.count()
    for wrong, field in [
        (Given(secrets=[Told(foreign.uid, "HERS")]), "secrets"),
        (Given([Mounted("st-none", "x")]), "storage"),
        (Given([Mounted(elsewhere.uid, "far")]), "storage"),
        (Given(environment="none"), "environment"),
    ]:
        with pytest.raises(Invalid) as refused:
            ask(world, act, given=wrong)
        assert list(refused.value.detail) == [field]
    with pytest.raises(Invalid) as refused:
        ask(world, act, image="not an image")
    assert list(refused.value.detail) == ["image"]
    with pytest.raises(Invalid) as refused:
        ask(world, act, image="registry.example.org/a/b:1")
    assert "container" in str(refused.value)
    assert Request.objects.count() == before


def test_a_draft_is_judged_once_more_when_it_is_sent(world, given, secret):
    draft = ask(world, request_draft, given=given)
    secret_remove(secret=secret, actor=SYSTEM)
    with pytest.raises(Invalid) as refused:
        request_send(request=draft, user=world.member, actor=make.by(world.member))
    assert list(refused.value.detail) == ["secrets"]
    edit(world, draft, given=Given(given.mounts))
    sent = request_send(request=draft, user=world.member, actor=make.by(world.member))
    assert sent.state == "submitted"


def test_an_edit_takes_what_was_given_away_with_all_that_it_asked_for(world, given):
    torch()
    asked = ask(world, given=Given(given.mounts, (), "torch"))
    changed = edit(world, asked, given=Given())
    assert not {"storage", "vendors", "min_driver"} & set(changed.need)
    again = edit(world, asked, given=given, need={"memory_gb": 20})
    assert again.need["storage"] == ["/srv/data"]
    assert again.need["memory_gb"] == 20


def test_an_edit_of_other_words_does_not_judge_anew_what_is_given(world, given, secret):
    asked = ask(world, given=given)
    secret_remove(secret=secret, actor=SYSTEM)
    changed = edit(world, asked, title="soon", copies=2)
    assert given_from(changed.given).secrets == [Told(secret.uid, "TOKEN", "env")]


def test_approval_with_changes_keeps_it_and_work_under_the_lease_gets_it(world, given):
    torch()
    asked = ask(world, given=Given(given.mounts, given.secrets, "torch"))
    approve(world, asked, changes={"need": {"memory_gb": 20}, "duration_seconds": 7200})
    asked.refresh_from_db()
    assert (asked.state, asked.need["storage"]) == ("approved", ["/srv/data", "/opt/torch"])
    made = work(world, lease=asked.lease, need={"memory_gb": 20})
    assert used(made) == ([("data", "/srv/data")], ["TOKEN"])
    assert made.environment == Environment.objects.get(slug="torch")
    assert made.need["vendors"] == ["nvidia"]


def test_a_yes_with_changes_is_not_barred_by_what_is_gone_since_it_was_asked(world, given, secret):
    torch()
    asked = ask(world, given=Given(given.mounts, given.secrets, "torch"))
    secret_remove(secret=secret, actor=SYSTEM)
    watch("/opt/torch")
    changed = edit(world, asked, need={"memory_gb": 20})
    assert changed.need["storage"] == ["/srv/data", "/opt/torch"]
    assert (changed.need["memory_gb"], changed.need["min_driver"]) == (20, "550.1")
    assert changed.given["before"] == asked.given["before"]
    newest = edit(world, asked, need={"min_driver": "560.1"})
    assert (newest.need["min_driver"], newest.given["before"]["min_driver"]) == ("560.1", "560.1")
    approve(world, newest, changes={"need": {"memory_gb": 10}})
    newest.refresh_from_db()
    assert newest.state == "approved"
    assert given_from(newest.given).secrets == [Told(secret.uid, "TOKEN", "env")]


def test_a_yes_with_changes_keeps_what_an_environment_asked_for_that_is_gone(world, given):
    kept = torch()
    asked = ask(world, given=Given(given.mounts, (), "torch"))
    environment_remove(environment=kept, actor=SYSTEM)
    approve(world, asked, changes={"need": {"memory_gb": 20}})
    asked.refresh_from_db()
    assert (asked.need["vendors"], asked.need["min_driver"]) == (["nvidia"], "550.1")


def test_a_yes_for_cards_on_which_the_environment_never_runs_is_refused(world, given):
    torch()
    asked = ask(world, given=Given(given.mounts, given.secrets, "torch"))
    with pytest.raises(Invalid) as refused:
        approve(world, asked, changes={"need": {"vendors": ["amd"]}})
    assert list(refused.value.detail) == ["environment"]


def test_work_that_names_something_itself_gets_only_that_and_stays_with_the_granted_cards(
    world, given
):
    torch()
    asked = ask(world, given=Given(given.mounts, (), "torch"))
    approve(world, asked)
    made = work(world, lease=asked.lease, given=Given())
    assert used(made) == ([], [])
    assert made.environment is None
    assert made.need["vendors"] == ["nvidia"]


def test_a_colleague_under_the_lease_gets_its_folders_and_not_the_requesters_secrets(world, given):
    asked = ask(world, given=given)
    approve(world, asked)
    made = work(world, lease=asked.lease, user=world.lead)
    assert used(made) == ([("data", "/srv/data")], [])


def test_work_that_opens_a_request_keeps_what_it_uses_through_the_yes(world, given):
    torch()
    made = work(world, given=Given(given.mounts, given.secrets, "torch"))
    asked = made.request
    asked.refresh_from_db()
    assert given_from(asked.given).secrets == [Told(given.secrets[0].secret, "TOKEN", "env")]
    with pytest.raises(Invalid) as refused:
        edit(world, asked, given=Given())
    assert "work" in str(refused.value)
    edit(world, asked, title="still mine")
    approve(world, asked)
    made.refresh_from_db()
    assert made.state == "queued"
    assert used(made) == ([("data", "/srv/data")], ["TOKEN"])
    assert made.environment.slug == "torch"


def test_work_in_another_environment_than_its_templates_is_not_bound_by_the_templates(world, given):
    plain = torch("plain", reference="/opt/plain", min_driver="999.0")
    watch("/srv/data", "/opt/torch", "/opt/plain")
    type(world.finetune).objects.filter(pk=world.finetune.pk).update(environment=plain)
    world.finetune.refresh_from_db()
    torch()
    made = work(world, given=Given(environment="torch"))
    made.request.refresh_from_db()
    assert made.request.need["storage"] == ["/opt/torch"]
    assert made.request.need["min_driver"] == "550.1"


def test_more_time_and_another_size_go_on_with_what_the_lease_has(world, given, secret):
    asked = ask(world, given=given)
    approve(world, asked)
    secret_remove(secret=secret, actor=SYSTEM)
    longer = lease_extension_ask(
        lease=asked.lease,
        user=world.member,
        seconds=3600,
        actor=make.by(world.member),
        weights=make.FREE,
    )
    assert given_from(longer.given).mounts == given_from(asked.given).mounts
    approve(world, longer)
    other = lease_resize_ask(
        lease=asked.lease,
        user=world.member,
        copies=2,
        actor=make.by(world.member),
        weights=make.FREE,
    )
    approve(world, other)
    other.refresh_from_db()
    assert given_from(other.lease.request.given).mounts == given_from(asked.given).mounts


def test_an_heirs_request_forgets_the_leavers_secrets_and_can_be_sent_again(world, given):
    heir = rows.member(world.project, username="heir")
    asked = ask(world, given=given)
    user_leave(user=world.member, actor=SYSTEM, heir=heir)
    leavers_due()
    asked.refresh_from_db()
    assert asked.requester == heir
    kept = given_from(asked.given)
    assert (len(kept.mounts), kept.secrets) == (1, [])


def test_an_heirs_request_forgets_the_leavers_folder_and_the_heir_is_told(world, given):
    heir = rows.member(world.project, username="heir")
    watch("/srv/data", "/srv/mine", "/opt/torch")
    torch()
    mine = rows.storage(name="mine", path="/srv/mine", user=world.member, kind="scratch")
    mounts = [*given.mounts, Mounted(mine.uid, "mine")]
    asked = ask(world, given=Given(mounts, given.secrets, "torch"))
    assert asked.need["storage"] == ["/srv/data", "/srv/mine", "/opt/torch"]
    other = rows.user()
    Storage.objects.filter(pk=mine.pk).update(user=other)
    user_leave(user=world.member, actor=SYSTEM, heir=heir)
    leavers_due()
    asked.refresh_from_db()
    assert asked.need["storage"] == ["/srv/data", "/opt/torch"]
    (notice,) = Notice.objects.filter(user=heir, about=f"request:{asked.uid}")
    assert notice.values["count"] == 2
