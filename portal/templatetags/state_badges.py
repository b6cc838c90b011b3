"""States in plain words and calm colours."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

register = template.Library()

WORKLOAD = {
    "awaiting_approval": ("wait", _("awaiting approval")),
    "queued": ("wait", _("waiting")),
    "on_hold": ("calm", _("on hold")),
    "active": ("busy", _("in progress")),
    "placed": ("busy", _("preparing")),
    "starting": ("busy", _("starting")),
    "running": ("busy", _("running")),
    "preempting": ("wait", _("giving way")),
    "stopping": ("wait", _("stopping")),
    "unreachable": ("bad", _("node unreachable")),
    "succeeded": ("good", _("done")),
    "failed": ("bad", _("failed")),
    "cancelled": ("calm", _("cancelled")),
    "expired": ("calm", _("expired")),
    "stopped": ("calm", _("stopped")),
    "reclaimed": ("calm", _("reclaimed")),
    "dependency_failed": ("bad", _("dependency failed")),
}
REQUEST = {
    "draft": ("calm", _("draft")),
    "submitted": ("wait", _("awaiting decision")),
    "returned": ("wait", _("asked back")),
    "approved": ("good", _("approved")),
    "rejected": ("bad", _("rejected")),
    "withdrawn": ("calm", _("withdrawn")),
}
LEASE = {
    "active": ("good", _("active")),
    "ending": ("wait", _("ending")),
    "ended": ("calm", _("ended")),
}
SCHEDULE = {
    "active": ("good", _("active")),
    "paused": ("wait", _("paused")),
    "ended": ("calm", _("ended")),
}
STUDY = {
    "waiting": ("wait", _("waiting")),
    "running": ("busy", _("running")),
    "done": ("good", _("done")),
    "failed": ("bad", _("failed")),
    "cancelled": ("calm", _("cancelled")),
}
SCHEDULE_RUN = {
    "started": ("good", _("started")),
    "skipped": ("calm", _("skipped")),
    "missed": ("wait", _("missed")),
    "refused": ("bad", _("refused")),
}
NODE = {
    "joining": ("busy", _("joining")),
    "observed": ("calm", _("observed only")),
    "ready": ("good", _("ready")),
    "cordoned": ("wait", _("closed for new work")),
    "draining": ("wait", _("draining")),
    "silent": ("bad", _("silent")),
    "lost": ("bad", _("lost")),
    "retired": ("calm", _("retired")),
}
CARD = {
    "ready": ("good", _("ready")),
    "partial": ("wait", _("partly usable")),
    "silent": ("bad", _("silent")),
    "contested": ("wait", _("used from outside")),
    "cordoned": ("wait", _("closed for new work")),
    "lost": ("bad", _("lost")),
    "retired": ("calm", _("retired")),
}
SLICE = {
    "planned": ("busy", _("planned")),
    "creating": ("busy", _("being cut")),
    "ready": ("good", _("ready")),
    "cleaning": ("wait", _("being cleaned")),
    "deleting": ("wait", _("being removed")),
    "failed": ("bad", _("failed")),
    "lost": ("bad", _("lost")),
    "gone": ("calm", _("gone")),
}
FOUND = {
    "running": ("busy", _("running")),
    "stopping": ("wait", _("being ended")),
    "adopted": ("good", _("adopted")),
    "over": ("calm", _("over")),
}
WINDOW = {
    "planned": ("wait", _("planned")),
    "active": ("busy", _("under way")),
    "ended": ("calm", _("over")),
    "cancelled": ("calm", _("called off")),
}
RESERVATION = {
    "asked": ("wait", _("awaiting decision")),
    "confirmed": ("good", _("confirmed")),
    "active": ("busy", _("kept now")),
    "ended": ("calm", _("ended")),
    "cancelled": ("calm", _("called off")),
}
ALERT = {
    "pending": ("wait", _("building up")),
    "firing": ("bad", _("firing")),
    "acknowledged": ("busy", _("taken")),
    "resolved": ("good", _("over")),
}
TABLES = {
    "alert": ALERT,
    "found": FOUND,
    "window": WINDOW,
    "reservation": RESERVATION,
    "workload": WORKLOAD,
    "request": REQUEST,
    "lease": LEASE,
    "node": NODE,
    "schedule": SCHEDULE,
    "schedule_run": SCHEDULE_RUN,
    "study": STUDY,
    "card": CARD,
    "slice": SLICE,
}


@register.simple_tag
def badge(noun: str, state: str) -> SafeString:
    """The state of a noun as a coloured pill; the word alone carries the meaning."""
    kind, label = TABLES[noun].get(state, ("calm", state))
    return format_html('<span class="gp-badge gp-badge-{}">{}</span>', kind, label)


@register.simple_tag
def state_word(noun: str, state: str) -> str:
    """The same word without the pill."""
    return str(TABLES[noun].get(state, ("calm", state))[1])
