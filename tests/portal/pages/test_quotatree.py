"""The quota tree at a browser: read by its people, tried, saved with a reason, taken back."""

import re

import pytest

from pool.models import Event, PlannedQuota, Quota
from tests import rows

WHERE = "/quotas/tree/?partition=a100&unit=cards_micro&model=A100-80GB"


@pytest.fixture
def tree(world):
    """Limits of organization, project and a member, in whole cards."""
    own = world.own
    place = {"partition": world.partition, "label": "A100-80GB"}
    Quota.objects.filter(partition=world.partition).exclude(pk=own.quota.pk).delete()
    Quota.objects.filter(pk=own.quota.pk).delete()
    return {
        "organization": rows.quota(limit=8_000_000, organization=own.organization, **place),
        "project": rows.quota(limit=6_000_000, project=own.project, **place),
        "member": rows.quota(limit=4_000_000, project=own.project, user=own.owner, **place),
    }


def changes():
    """What was told of rows of cards; the world itself has set others."""
    return Event.objects.filter(kind="quota.changed", data__unit="cards_micro")


def key(row):
    home = row.organization or row.project
    return home.uid + (f"~{row.user.uid}" if row.user else "")


def change(row, text, was=None, kind="limit"):
    before = was or f"{row.limit_value / 1_000_000:g}"
    return {f"{kind}|{key(row)}": text, f"was:{kind}|{key(row)}": before}


@pytest.mark.handmade_books
def test_the_tree_shows_who_has_and_holds_what_and_members_on_demand(visit, world, tree):
    page = visit("platform_admin").open(WHERE).content.decode()
    for row in tree.values():
        assert f'name="limit|{key(row)}"' in page
    viewer = world.by("viewer").user
    assert viewer.uid not in page
    assert "show members" in page
    opened = visit("platform_admin").open(f"{WHERE}&open={world.own.project.slug}")
    assert world.by("lead").user.uid in opened.content.decode()


@pytest.mark.handmade_books
def test_what_is_held_follows_while_one_looks_and_what_one_types_stays(visit, world, tree):
    admin, row = visit("platform_admin"), tree["project"]
    page = admin.open(WHERE).content.decode()
    assert 'data-live-poke="home"' in page and "/quotas/tree/use/?" in page
    assert f'data-held="{key(row)}"' in page
    Quota.objects.filter(pk=row.pk).update(held=7_000_000, ceiling=7_000_000)
    now = WHERE.replace("/tree/", "/tree/use/")
    told = admin.open(now).content.decode()
    assert f"innerHTML:[data-held='{key(row)}']" in told
    assert "7 cards" in told and "over the limit" in told and "<input" not in told
    assert key(row) not in visit("stranger").open(now).content.decode()


@pytest.mark.handmade_books
def test_saving_needs_a_reason_and_is_kept_as_one_change(visit, world, tree):
    admin = visit("platform_admin")
    words = change(tree["project"], "5,5") | change(tree["member"], "")
    answer = admin.send(WHERE, words)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Say why" in page and 'value="5,5"' in page
    assert admin.send(WHERE, words | {"reason": "spring"}).status_code == 303
    tree["project"].refresh_from_db()
    assert tree["project"].limit_value == 5_500_000
    assert not Quota.objects.filter(pk=tree["member"].pk).exists()
    told = changes()
    assert {one.data["reason"] for one in told} == {"spring"}
    assert len({one.data["change"] for one in told}) == 1


@pytest.mark.handmade_books
def test_trying_tells_who_would_be_over_and_changes_nothing(visit, world, tree):
    Quota.objects.filter(pk=tree["project"].pk).update(held=6_000_000)
    words = change(tree["project"], "4") | change(tree["member"], "9")
    told = visit("platform_admin").send(
        WHERE.replace("tree/", "tree/judged/"), words | {"queue": "1"}, htmx=True
    )
    page = re.sub(r"\s+", " ", told.content.decode())
    assert "over by 2 cards" in page and "nothing new starts until it fits" in page
    assert "5 cards above the limit over it: the stricter counts" in page
    assert "In the queue" in page
    tree["project"].refresh_from_db()
    assert tree["project"].limit_value == 6_000_000


@pytest.mark.handmade_books
def test_what_somebody_else_changed_meanwhile_is_not_written_over(visit, world, tree):
    answer = visit("platform_admin").send(
        WHERE, change(tree["project"], "5", was="3") | {"reason": "spring"}
    )
    assert answer.status_code == 422
    assert "Something changed meanwhile" in answer.content.decode()
    tree["project"].refresh_from_db()
    assert tree["project"].limit_value == 6_000_000


@pytest.mark.handmade_books
@pytest.mark.parametrize("text", ["many", "-1", "1e99"])
def test_what_is_no_number_stands_beside_its_field(visit, world, tree, text):
    answer = visit("platform_admin").send(WHERE, change(tree["project"], text) | {"reason": "x"})
    assert answer.status_code == 422
    assert "A number is needed" in answer.content.decode()


@pytest.mark.handmade_books
@pytest.mark.parametrize(
    ("does", "by", "filled"), [("set", "3", "3"), ("add", "2", "8"), ("scale", "50", "3")]
)
def test_ticked_rows_are_filled_in_and_not_saved(visit, world, tree, does, by, filled):
    words = change(tree["project"], "6") | {"pick": [key(tree["project"])]}
    words |= {"does": does, "by": by, "column": "limit"}
    page = (
        visit("platform_admin")
        .send(WHERE.replace("tree/", "tree/bulk/"), words, htmx=True)
        .content.decode()
    )
    found = re.search(rf'name="limit\|{key(tree["project"])}"\s+value="([^"]*)"', page)
    assert found.group(1) == filled
    assert not changes().exists()


@pytest.mark.handmade_books
def test_an_organizations_admin_deals_out_and_raises_not_its_own(visit, world, tree):
    admin = visit("org_admin")
    page = admin.open(WHERE).content.decode()
    assert f'name="limit|{key(tree["project"])}"' in page
    assert f'name="limit|{key(tree["organization"])}"' not in page
    assert f'name="entitlement|{key(tree["project"])}"' not in page
    words = change(tree["organization"], "99") | change(tree["project"], "7")
    assert admin.send(WHERE, words | {"reason": "mine"}).status_code == 303
    tree["organization"].refresh_from_db(), tree["project"].refresh_from_db()
    assert (tree["organization"].limit_value, tree["project"].limit_value) == (8_000_000, 7_000_000)


@pytest.mark.handmade_books
def test_members_read_their_own_tree_and_nobody_elses(visit, world, tree):
    page = visit("member").open(WHERE).content.decode()
    assert world.own.project.name in page and world.other.project.name not in page
    assert 'name="limit|' not in page
    assert (
        visit("member").send(WHERE, change(tree["project"], "9") | {"reason": "x"}).status_code
        == 422
    )
    other = world.other
    assert visit("member").open(f"/quotas/tree/{other.project.uid}/").status_code == 404
    assert visit("member").open(f"/quotas/tree/{other.organization.uid}/").status_code == 404
    assert visit("member").open(f"/quotas/tree/{other.project.uid}/plan/").status_code == 404


@pytest.mark.handmade_books
def test_the_history_of_a_tenant_takes_a_change_back_as_a_new_one(visit, world, tree):
    admin = visit("platform_admin")
    admin.send(WHERE, change(tree["project"], "5") | {"reason": "spring"})
    named = changes().get().data["change"]
    page = admin.open(f"/quotas/tree/{key(tree['project'])}/").content.decode()
    assert "spring" in page and f"/quotas/changes/{named}/undo/" in page
    assert visit("member").send(f"/quotas/changes/{named}/undo/").status_code == 403
    assert visit("stranger").send(f"/quotas/changes/{named}/undo/").status_code == 404
    assert admin.send(f"/quotas/changes/{named}/undo/").status_code == 303
    tree["project"].refresh_from_db()
    assert tree["project"].limit_value == 6_000_000
    assert changes().count() == 2
    admin.send(WHERE, change(tree["project"], "4") | {"reason": "summer"})
    admin.send(f"/quotas/changes/{named}/undo/")
    tree["project"].refresh_from_db()
    assert tree["project"].limit_value == 4_000_000


@pytest.mark.handmade_books
def test_a_change_is_planned_shown_and_called_off(visit, world, tree):
    admin = visit("platform_admin")
    path = f"/quotas/tree/{key(tree['project'])}/plan/"
    assert admin.open(f"{path}?partition=a100").status_code == 200
    words = {"does": "grant", "partition": "a100", "unit": "cards_micro", "kind": "limit"}
    words |= {"card_model": "A100-80GB", "amount": "2", "starts_at": "2027-01-01T00:00"}
    assert "Say when the grant ends" in admin.send(path, words | {"reason": "a"}).content.decode()
    words |= {"does": "set", "reason": "<b>term</b>"}
    assert admin.send(path, words).status_code == 303
    row = PlannedQuota.objects.get(unit="cards_micro")
    page = visit("member").open("/quotas/planned/").content.decode()
    assert "&lt;b&gt;term" in page and "Call off" not in page
    assert visit("member").send(f"/quotas/planned/{row.uid}/cancel/").status_code == 403
    assert admin.send(f"/quotas/planned/{row.uid}/cancel/").status_code == 303
    row.refresh_from_db()
    assert row.state == "cancelled"


@pytest.mark.handmade_books
def test_drift_is_the_platforms_to_see_and_repair(visit, world, tree):
    Quota.objects.filter(pk=tree["project"].pk).update(held=1)
    assert visit("org_admin").open("/quotas/drift/").status_code == 403
    admin = visit("platform_admin")
    assert admin.send("/quotas/drift/").status_code == 303
    page = admin.open("/quotas/drift/").content.decode()
    assert "Repair now" in page
    address = re.search(r"/quotas/drift/\d+/repair/", page).group(0)
    assert "Drift" in admin.open(WHERE).content.decode()
    assert visit("lead").send(address).status_code == 403
    assert admin.send(address).status_code == 303
    tree["project"].refresh_from_db()
    assert "repaired" in admin.open("/quotas/drift/").content.decode()


@pytest.mark.handmade_books
def test_unused_leases_are_listed_for_their_people(visit, world):
    assert visit("member").open("/quotas/unused/").status_code == 200
