"""Which of the topics that pages subscribe to an announcement touches; asks no database."""

from collections.abc import Iterable
from dataclasses import dataclass

WIDE: dict[str, frozenset[str]] = {
    "home": frozenset({"workload", "placement", "request", "lease", "alert", "quota", "project"}),
    "workloads": frozenset({"workload", "placement"}),
    "requests": frozenset({"request", "lease"}),
    "approvals": frozenset({"request"}),
    "alerts": frozenset({"alert"}),
    "notebooks": frozenset({"workload", "notebook"}),
    "warnings": frozenset({"workload", "notebook"}),
}
"""Topics about everything of one's projects, and the nouns whose events they show."""

RIGHTS = frozenset({"membership", "user", "project", "organization"})
"""Nouns whose events may change what somebody is allowed to see."""

LOG = "log:"
"""Before a workload's uid; `.n` after it means its rank n, none its rank 0."""


CARD = "card:"
"""Before a card's uid and, after a point, its node's: events of slices and holds name that."""


def log_of(topic: str) -> tuple[str, int]:
    """Whose log a topic is of: the workload's uid, and the rank of its gang."""
    uid, _, rank = topic.removeprefix(LOG).partition(".")
    return uid, int(rank) if rank.isascii() and rank.isdigit() and len(rank) < 5 else 0


@dataclass(frozen=True, slots=True)
class News:
    """What came in since the last look: event numbers are summed up in the greatest."""

    number: int
    topics: frozenset[str]
    nouns: frozenset[str]
    projects: frozenset[int]

    @property
    def rights(self) -> bool:
        """Whether somebody's rights may have changed."""
        return bool(self.nouns & RIGHTS)


def news_of(messages: Iterable[dict[str, object]]) -> News:
    """Many announcements as one."""
    number = 0
    topics: set[str] = set()
    nouns: set[str] = set()
    for message in messages:
        told = message.get("number", 0)
        number = max(number, told if isinstance(told, int) else 0)
        named = message.get("topics", ())
        topics |= {str(t) for t in named} if isinstance(named, list | tuple) else set()
        nouns.add(str(message.get("kind", "")).partition(".")[0])
    projects = {
        int(t.removeprefix("project:"))
        for t in topics
        if t.startswith("project:") and t.removeprefix("project:").isdigit()
    }
    return News(number, frozenset(topics), frozenset(nouns), frozenset(projects))


def touches(news: News, topic: str, projects: frozenset[int] | None) -> bool:
    """Whether a topic may look different now. `projects` None: all of them."""
    if topic in news.topics:
        return True
    if topic.startswith(LOG):
        return f"workload:{log_of(topic)[0]}" in news.topics
    if topic.startswith(CARD):
        card, _, node = topic.removeprefix(CARD).partition(".")
        return f"{CARD}{card}" in news.topics or f"node:{node}" in news.topics
    wanted = WIDE.get(topic)
    if wanted is None or not wanted & news.nouns:
        return False
    return projects is None or not news.projects or bool(projects & news.projects)
