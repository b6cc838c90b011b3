"""How each kind of receiver wants to be told: address, headers, body, signature, and its yes."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote_plus, urlsplit

from pool.rules.alerting.terms import ChannelKind, Word

MOST_BYTES = 4000
"""Chats refuse longer texts; WeCom's limit is 4,096 bytes."""

FIRES_FOR = timedelta(days=7)
"""An Alertmanager lets an alert end by itself unless it is told how long it lasts."""

MARK = {Word.FIRED: "🔥", Word.RESOLVED: "✅"}


@dataclass(frozen=True, slots=True)
class Item:
    """One alert as receivers are told of it. `text` is one line for people."""

    uid: str
    word: str
    family: str
    severity: str
    rule: str
    subject: str
    title: str
    text: str
    url: str
    started_at: datetime
    ended_at: datetime | None = None
    value: float | None = None
    threshold: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """What is posted. `yes` looks at the answer of those that say 200 to everything."""

    url: str
    body: bytes
    headers: dict[str, str]
    yes: Callable[[bytes], str] = lambda _body: ""


def call_for(
    kind: str, items: Sequence[Item], *, url: str, secret: str, at: datetime, key: str
) -> Call:
    """The call that tells a receiver of these alerts; `key` is the same for a repeat of it."""
    maker = _MAKERS[ChannelKind(kind)]
    return maker(items, url, secret, at, key)


def _json(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, sort_keys=True).encode()


def _headers(key: str, **more: str) -> dict[str, str]:
    named = {name.replace("_", "-"): value for name, value in more.items()}
    return {"Content-Type": "application/json", "Idempotency-Key": key, **named}


def _webhook(items: Sequence[Item], url: str, secret: str, at: datetime, key: str) -> Call:
    """Plain JSON, signed with HMAC-SHA256 over the body, which carries its own time."""
    body = _json({"version": 1, "sent_at": at.isoformat(), "alerts": [_plain(i) for i in items]})
    sign = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return Call(url, body, _headers(key, X_Signature_256=f"sha256={sign}"))


def _slack(items: Sequence[Item], url: str, secret: str, at: datetime, key: str) -> Call:
    lines = [f"{_mark(i)} *{_escaped(i.text)}*\n<{i.url}|{i.severity} · {i.family}>" for i in items]
    body = {"text": _cut("\n".join(lines)), "mrkdwn": True}
    return Call(url, _json(body), _headers(key))


def _wecom(items: Sequence[Item], url: str, secret: str, at: datetime, key: str) -> Call:
    body = {"msgtype": "markdown", "markdown": {"content": _cut(_markdown(items))}}
    return Call(url, _json(body), _headers(key), _errcode)


def _feishu(items: Sequence[Item], url: str, secret: str, at: datetime, key: str) -> Call:
    """Signed where the robot asks for it: the key is time and secret, the message is empty."""
    body: dict[str, Any] = {
        "msg_type": "text",
        "content": {"text": _cut("\n".join(f"{_mark(i)} {i.text}\n{i.url}" for i in items))},
    }
    if secret:
        moment = str(int(at.timestamp()))
        sign = hmac.new(f"{moment}\n{secret}".encode(), b"", hashlib.sha256).digest()
        body |= {"timestamp": moment, "sign": base64.b64encode(sign).decode()}
    return Call(url, _json(body), _headers(key), _code)


def _dingtalk(items: Sequence[Item], url: str, secret: str, at: datetime, key: str) -> Call:
    """Signed where the robot asks for it: time in milliseconds and signature in the address."""
    body = {
        "msgtype": "markdown",
        "markdown": {"title": items[0].title[:60], "text": _cut(_markdown(items))},
    }
    if secret:
        moment = str(int(at.timestamp() * 1000))
        sign = hmac.new(secret.encode(), f"{moment}\n{secret}".encode(), hashlib.sha256).digest()
        more = f"timestamp={moment}&sign={quote_plus(base64.b64encode(sign))}"
        url += ("&" if urlsplit(url).query else "?") + more
    return Call(url, _json(body), _headers(key), _errcode)


def _alertmanager(items: Sequence[Item], url: str, secret: str, at: datetime, key: str) -> Call:
    """The second version of its API; the path may be left out of the address."""
    if not urlsplit(url).path.strip("/"):
        url = url.rstrip("/") + "/api/v2/alerts"
    more = {"Authorization": f"Bearer {secret}"} if secret else {}
    return Call(url, _json([_posted(i, at) for i in items]), _headers(key, **more))


def _posted(item: Item, at: datetime) -> dict[str, Any]:
    ends = item.ended_at if item.word == Word.RESOLVED and item.ended_at else at + FIRES_FOR
    labels = {
        "alertname": item.rule or item.title,
        "severity": item.severity,
        "family": item.family,
        "subject": item.subject,
        "alert": item.uid,
        **item.labels,
    }
    return {
        "labels": {name: value for name, value in labels.items() if value},
        "annotations": {"summary": item.text},
        "startsAt": item.started_at.isoformat(),
        "endsAt": ends.isoformat(),
        "generatorURL": item.url,
    }


def _plain(item: Item) -> dict[str, Any]:
    return {
        "uid": item.uid,
        "word": item.word,
        "family": item.family,
        "severity": item.severity,
        "rule": item.rule,
        "subject": item.subject,
        "title": item.title,
        "text": item.text,
        "url": item.url,
        "started_at": item.started_at.isoformat(),
        "ended_at": item.ended_at.isoformat() if item.ended_at else None,
        "value": item.value,
        "threshold": item.threshold,
        "labels": dict(item.labels),
    }


def _markdown(items: Sequence[Item]) -> str:
    return "\n\n".join(
        f"{_mark(i)} **{i.text}**\n\n[{i.severity} · {i.family}]({i.url})" for i in items
    )


def _mark(item: Item) -> str:
    return MARK.get(Word(item.word), "")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cut(text: str) -> str:
    """At most MOST_BYTES bytes, whole characters."""
    data = text.encode()
    if len(data) <= MOST_BYTES:
        return text
    return data[: MOST_BYTES - 3].decode(errors="ignore") + "…"


def _errcode(body: bytes) -> str:
    """WeCom and DingTalk answer 200 with what is wrong inside."""
    return _inside(body, "errcode", "errmsg")


def _code(body: bytes) -> str:
    """So does Feishu."""
    return _inside(body, "code", "msg")


def _inside(body: bytes, number: str, words: str) -> str:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return "an answer that is no JSON"
    if not isinstance(said, dict) or said.get(number, said.get("StatusCode", 0)) != 0:
        told = said if isinstance(said, dict) else {}
        return f"{told.get(number, '?')}: {told.get(words, '')}"[:150]
    return ""


_Maker = Callable[[Sequence[Item], str, str, datetime, str], Call]
_MAKERS: dict[ChannelKind, _Maker] = {
    ChannelKind.WEBHOOK: _webhook,
    ChannelKind.SLACK: _slack,
    ChannelKind.WECOM: _wecom,
    ChannelKind.FEISHU: _feishu,
    ChannelKind.DINGTALK: _dingtalk,
    ChannelKind.ALERTMANAGER: _alertmanager,
}
