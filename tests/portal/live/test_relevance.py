"""Which topics an announcement touches."""

import pytest

from portal.live.relevance import news_of, touches

MINE = frozenset({4})


def event(kind, *topics, number=1):
    return {"type": "event", "kind": kind, "topics": list(topics), "number": number}


def test_many_announcements_are_one_with_the_greatest_number():
    news = news_of(
        [
            event("workload.moved", "workload:a", "project:4", number=7),
            event("slice.moved", "pool", number=3),
        ]
    )
    assert (news.number, news.nouns) == (7, {"workload", "slice"})
    assert news.topics == {"workload:a", "project:4", "pool"}
    assert news.projects == {4}


@pytest.mark.parametrize(
    ("topic", "projects", "touched"),
    [
        ("workload:a", MINE, True),
        ("log:a", MINE, True),
        ("workload:b", MINE, False),
        ("log:b", MINE, False),
        ("queue", MINE, True),
        ("home", MINE, True),
        ("home", frozenset({5}), False),
        ("home", None, True),
        ("approvals", MINE, False),
        ("pool", MINE, False),
    ],
)
def test_a_moved_workload_touches_its_page_its_log_its_peoples_home(topic, projects, touched):
    news = news_of([event("workload.moved", "workload:a", "project:4", "queue")])
    assert touches(news, topic, projects) is touched


def test_a_request_touches_the_approvals_of_those_who_see_its_project():
    news = news_of([event("request.submitted", "request:r", "project:4")])
    assert touches(news, "approvals", MINE)
    assert not touches(news, "approvals", frozenset({5}))


@pytest.mark.parametrize("kind", ["membership.changed", "user.disabled", "project.suspended"])
def test_events_that_change_rights_are_seen_as_such(kind):
    assert news_of([event(kind, "x")]).rights
    assert not news_of([event("workload.moved", "x")]).rights


def test_an_announcement_of_an_unknown_shape_touches_nothing():
    news = news_of([{"type": "event"}, event("", "project:x"), {"number": "7", "topics": "ab"}])
    assert (news.number, news.projects) == (1, frozenset())
    assert not touches(news, "home", MINE)
