"""Notices come once, to people who are there, by the ways they chose."""

import pytest

from pool.errors import Invalid
from pool.models import Notice, NoticeDelivery
from pool.rules.notices import Channel, How, NoticeKind
from pool.selectors.approvals.notices import notice_choices, notices_unread
from pool.services.notices.choices import notice_choose, notice_hook_set, notice_read
from pool.services.notices.send import notice_send
from tests import factories as make


def told(world, *to, key="k", kind=NoticeKind.DECIDED):
    return notice_send(
        kind=kind,
        to=to or [world.member],
        about=world.project,
        text="%(who)s said yes.",
        key=key,
        who="Lena",
    )


def ways(world):
    rows = NoticeDelivery.objects.filter(notice__user=world.member)
    return sorted(rows.values_list("channel", flat=True))


def test_the_same_key_reaches_a_person_once_however_often_it_is_told(world):
    assert [told(world), told(world), told(world, world.member, world.lead)] == [1, 0, 1]
    assert Notice.objects.count() == 2


def test_people_who_left_and_service_accounts_are_told_nothing(world):
    gone, robot = make.user("gone"), make.user("robot")
    gone.is_active = False
    robot.service_account = True
    assert told(world, gone, robot) == 0


def test_letters_go_to_who_has_an_address_unless_they_want_none(world):
    told(world, key="no address")
    assert ways(world) == []
    world.member.email = "mei@example.org"
    world.member.save()
    told(world, key="at once")
    assert ways(world) == ["mail"]
    off = {(NoticeKind.DECIDED, Channel.MAIL): How.OFF}
    notice_choose(user=world.member, choices=off, actor=make.by(world.member))
    assert notice_choices(user=world.member)[NoticeKind.DECIDED, Channel.MAIL] is How.OFF
    told(world, key="off")
    assert ways(world) == ["mail"]


def test_the_letter_of_the_day_is_due_later_than_now(world):
    world.member.email = "mei@example.org"
    told(world, kind=NoticeKind.COMMENTED)
    row = NoticeDelivery.objects.get()
    assert row.due_at > row.notice.at
    assert row.due_at.hour == 8


def test_a_receiver_of_ones_own_gets_them_too_until_it_is_ended(world):
    def hook(url):
        return notice_hook_set(
            user=world.member, url=url, secret="sealed", actor=make.by(world.member)
        )

    hook("https://example.org/in")
    told(world)
    assert ways(world) == ["hook"]
    for wrong in ("ftp://example.org", "https://" + "x" * 600):
        with pytest.raises(Invalid):
            hook(wrong)
    assert hook("") is None
    told(world, key="later")
    assert ways(world) == ["hook"]


def test_reading_counts_down_and_is_ones_own(world):
    told(world, key="a"), told(world, key="b"), told(world, world.lead)
    first = Notice.objects.filter(user=world.member).first()
    assert notice_read(user=world.member, uids=[first.uid]) == 1
    assert notice_read(user=world.lead, uids=[first.uid]) == 0
    assert notices_unread(user=world.member) == 1
    assert [notice_read(user=world.member), notice_read(user=world.member)] == [1, 0]
    assert notices_unread(user=world.lead) == 1
