"""Notices by REST: how one hears of them, and a receiver of one's own, as scripts set them."""

import pytest

from pool.models import GroupRole, NoticeHook
from pool.rules.notices import Channel, NoticeKind

pytestmark = pytest.mark.django_db


def how(answer, kind, channel):
    found = [
        one["how"]
        for one in answer.json()["choices"]
        if (one["kind"], one["channel"]) == (kind, channel)
    ]
    return found[0]


def test_choices_are_read_whole_and_changed_one_by_one(world):
    member = world.by("member")
    before = member.get("notices/choices")
    assert len(before.json()["choices"]) == len(NoticeKind) * len(Channel)
    assert how(before, "people", "mail") == "at_once"
    body = {"choices": [{"kind": "people", "channel": "mail", "how": "off"}]}
    for _ in range(2):
        after = member.post("notices/choose", body)
        assert how(after, "people", "mail") == "off"
    assert how(after, "decided", "mail") == how(before, "decided", "mail")
    assert how(world.by("lead").get("notices/choices"), "people", "mail") == "at_once"
    for wrong in (
        {"choices": []},
        {"choices": [{"kind": "gnomes", "channel": "mail", "how": "off"}]},
        {"choices": [{"kind": "people", "channel": "mail", "how": "maybe"}]},
        {"choices": [{"kind": "people", "channel": "mail", "how": "off", "x": 1}]},
        {},
    ):
        assert member.post("notices/choose", wrong).status_code == 400


def test_a_receiver_is_set_with_a_secret_told_once_and_ended(world):
    member = world.by("member")
    assert member.get("notices/receiver").json() == {"url": ""}
    made = member.post("notices/receive", {"url": "https://example.org/in"}).json()
    assert made["url"] == "https://example.org/in"
    assert len(made["secret"]) >= 24
    assert member.get("notices/receiver").json() == {"url": "https://example.org/in"}
    assert made["secret"] not in NoticeHook.objects.get().secret
    assert member.post("notices/receive", {"url": "ftp://x"}).status_code == 400
    assert member.post("notices/receive", {"url": ""}).json() == {"url": ""}
    assert not NoticeHook.objects.exists()


def test_a_mapping_of_a_group_is_replaced_whole_and_names_who_holds_it(world):
    admin, row = world.by("platform_admin"), world.group_role
    path = f"group-roles/{row.uid}"
    assert admin.get(f"{path}/holders").json() == {"results": []}
    body = {"directory": "oidc", "group": "heads", "role": "lead", "project": "vision"}
    made = admin("PUT", path, body).json()
    assert {name: made[name] for name in body} == body
    assert admin.get(path).status_code == 404
    assert GroupRole.objects.get(uid=made["uid"]).role == "lead"
    wrong = admin("PUT", f"group-roles/{made['uid']}", body | {"role": "org_admin"})
    assert wrong.status_code == 400
