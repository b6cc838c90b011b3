"""How one wants to be told: by kind and channel, and a receiver of one's own."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.errors import PoolError
from pool.events import Actor
from pool.models.approvals.notices import NoticeHook
from pool.rules.notices import Channel, How, NoticeKind
from pool.selectors.approvals.notices import notice_choices
from pool.services.notices.choices import notice_choose, notice_hook_set
from portal.notices.hooks import secret_new
from portal.notices.words import KINDS
from portal.pages.htmx import HtmxRequest, go, page

HOWS = {
    How.AT_ONCE: gettext_lazy("at once"),
    How.DAILY: gettext_lazy("once a day"),
    How.OFF: gettext_lazy("not at all"),
}
CHANNELS = {Channel.MAIL: gettext_lazy("By mail"), Channel.HOOK: gettext_lazy("To my receiver")}


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """The table of kinds and channels."""
    if request.method == "POST":
        notice_choose(user=request.user, choices=_said(request), actor=Actor.of(request.user))
        messages.success(request, _("Saved."))
        return go(request, reverse("notice-ways"))
    return render(request, "pages/notices/ways.html", _context(request))


@page("POST")
def hook(request: HtmxRequest) -> HttpResponse:
    """Set, change or end one's own receiver; its secret is shown once."""
    try:
        plain, sealed = secret_new()
        made = notice_hook_set(
            user=request.user,
            url=request.POST.get("url", "").replace("\0", ""),
            secret=sealed,
            actor=Actor.of(request.user),
        )
    except PoolError as refused:
        context = _context(request) | {"refused": str(refused), "url": request.POST.get("url", "")}
        return render(request, "pages/notices/ways.html", context, status=422)
    context = _context(request) | {"secret": plain if made else ""}
    return render(request, "pages/notices/ways.html", context)


def _said(request: HtmxRequest) -> dict[tuple[NoticeKind, Channel], How]:
    found = {}
    for kind in NoticeKind:
        for channel in Channel:
            how = request.POST.get(f"{kind}.{channel}", "")
            if how in set(How):
                found[kind, channel] = How(how)
    return found


def _context(request: HtmxRequest) -> dict[str, Any]:
    chosen = notice_choices(user=request.user)
    own = NoticeHook.objects.filter(user=request.user).first()
    rows = [
        (label, [(f"{kind}.{channel}", name, chosen[kind, channel]) for channel, name in shown])
        for kind, label in KINDS.items()
        for shown in [[one for one in CHANNELS.items() if one[0] != Channel.HOOK or own]]
    ]
    return {
        "rows": rows,
        "channels": [name for one, name in CHANNELS.items() if one != Channel.HOOK or own],
        "hows": HOWS,
        "hook": own,
        "url": own.url if own else "",
    }
