"""What JupyterLab's own page may ask of the pool: how long it has left, and to be kept."""

from functools import cache
from pathlib import Path
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import ExitReason
from pool.errors import PoolError
from pool.models import Workload
from pool.selectors.notebooks.standing import told_inside
from pool.services.notebooks.keep import notebook_keep
from pool.services.workloads import workload_stop
from portal.access.passes import Guest
from portal.gateway import headers
from portal.gateway.answers import said, told
from portal.gateway.guests import Guests
from portal.gateway.language import language_of
from portal.gateway.tunnels import Receive, Send

OWN = b"x-gpupool"
"""A header that only a script of this very origin can set."""


@cache
def script() -> bytes:
    """The banner's code."""
    return (Path(settings.BASE_DIR) / "static" / "js" / "notebook_banner.js").read_bytes()


def words(language: str) -> dict[str, str]:
    """What the banner says, in that language; {time} and {keeps} are filled in by its script."""
    with translation.override(language):
        return {
            "language": language,
            "warning": gettext(
                "Nothing moves in this notebook. It is stopped in {time}; files are kept, "
                "variables in memory are lost. Keeps left: {keeps}."
            ),
            "over": gettext(
                "This notebook is over. Files are kept: resume it from the portal. Variables in "
                "memory are lost."
            ),
            "keep": gettext("Keep it"),
            "stop": gettext("Save and stop now"),
        }


def _keep(guest: Guest) -> dict[str, Any]:
    notebook_keep(workload=Workload.objects.get(uid=guest.workload), actor=guest.actor)
    return told_inside(uid=guest.workload)


def _stop(guest: Guest) -> dict[str, Any]:
    row = Workload.objects.get(uid=guest.workload)
    workload_stop(workload=row, actor=guest.actor, reason=ExitReason.STOPPED)
    return told_inside(uid=guest.workload)


_told = database_sync_to_async(lambda guest: told_inside(uid=guest.workload))
_acts = {"keep": database_sync_to_async(_keep), "stop": database_sync_to_async(_stop)}


async def answer(scope: Any, receive: Receive, send: Send, guest: Guest, guests: Guests) -> None:
    """The script, its words, the state, keep, stop, and "somebody is here"."""
    name = scope["path"].rpartition("/")[2]
    language = language_of(guest.language, scope["headers"])
    if scope["method"] == "GET" and name == "banner.js":
        await _script(scope, send)
    elif scope["method"] == "GET" and name == "state":
        await told(send, 200, await _told(guest))
    elif scope["method"] == "GET" and name == "words":
        await told(send, 200, words(language))
    elif scope["method"] != "POST" or not headers.first(scope["headers"], OWN):
        await said(scope, send, 404, "There is nothing here.")
    elif name == "here":
        guests.touched(guest)
        await told(send, 200, {})
    elif name in _acts:
        try:
            await told(send, 200, await _acts[name](guest))
        except PoolError as refused:
            with translation.override(language):
                said_no = {"code": refused.code, "message": str(refused)}
            await told(send, refused.status, said_no)
    else:
        await said(scope, send, 404, "There is nothing here.")


async def _script(scope: Any, send: Send) -> None:
    host = headers.first(scope["headers"], b"host")
    pairs = [
        (b"content-type", b"text/javascript; charset=utf-8"),
        (b"cache-control", b"no-cache"),
        *headers.rules(host, scope["scheme"] == "https"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": pairs})
    await send({"type": "http.response.body", "body": script()})
