"""A browser is let in with its own person's ticket alone, wherever the link came from."""

from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlsplit

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from pool.events import Actor
from pool.models import Attempt
from portal.access.passes import ticket_issue
from portal.access.tokens import token_issue
from portal.gateway.door import Gateway
from tests import rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.handmade_books]

PORTAL, GATEWAY = "http://portal.test", "http://notebooks.test"
NAVIGATES = {"sec-fetch-mode": "navigate", "accept": "text/html"}


class Browser:
    """One browser with its cookies of both origins."""

    def __init__(self, user):
        self.portal = Client()
        self.portal.force_login(user)
        self.kept = {}

    async def follow(self, url, **pairs):
        """One step: the status, and where it leads."""
        at = urlsplit(url)
        if f"{at.scheme}://{at.netloc}" == PORTAL:
            answer = await sync_to_async(self.portal.get)(f"{at.path}?{at.query}")
            return answer.status_code, answer.headers.get("Location", "")
        return await self.gateway(at, pairs or NAVIGATES)

    async def gateway(self, at, pairs):
        told = pairs | {"host": at.netloc}
        if self.kept:
            told["cookie"] = "; ".join(f"{name}={value}" for name, value in self.kept.items())
        heard = []

        async def send(message):
            heard.append(message)

        scope = {"type": "http", "scheme": "http", "method": "GET", "path": at.path}
        scope |= {"query_string": at.query.encode(), "raw_path": at.path.encode()}
        scope["headers"] = [(key.encode(), value.encode()) for key, value in told.items()]
        await Gateway()(scope, None, send)
        for name, value in heard[0]["headers"]:
            if name == b"set-cookie":
                (cookie,) = SimpleCookie(value.decode()).values()
                self.kept[cookie.key] = cookie.value
        goes = [value.decode() for name, value in heard[0]["headers"] if name == b"location"]
        return heard[0]["status"], (goes or [""])[0]


@pytest.fixture
def work(settings):
    settings.PUBLIC_URL, settings.GATEWAY_ORIGIN = PORTAL, GATEWAY
    settings.ALLOWED_HOSTS = ["*"]
    made = rows.workload(kind="notebook", command=["jupyter", "lab"], state="running")
    Attempt.objects.create(workload=made, number=1, node=rows.node(), state="open")
    return made


def entrance(work, browser):
    """What the portal's button leads to."""
    key = browser.portal.session.session_key
    plain = ticket_issue(workload=work, user=work.owner, session_key=key)
    return f"{GATEWAY}/enter/{work.uid}?ticket={plain}"


@pytest.fixture
def mine(work):
    return Browser(work.owner)


async def test_the_owner_comes_in_by_the_portal(work, mine):
    status, asks = await mine.follow(await sync_to_async(entrance)(work, mine))
    assert (status, asks.partition("?")[0]) == (303, f"{PORTAL}/notebooks/{work.uid}/vouch/")
    assert mine.kept["gpe"] not in asks
    status, back = await mine.follow(asks)
    assert (status, back.partition("?")[0]) == (303, f"{GATEWAY}/enter/{work.uid}")
    status, lab = await mine.follow(back)
    assert (status, lab) == (303, f"/n/{work.uid}/lab")
    assert mine.kept["gpn"]


@pytest.mark.parametrize("role", ["member", "lead"])
async def test_another_s_ticket_lets_nobody_in(work, mine, role):
    other = await sync_to_async(lambda: Browser(rows.member(work.project, role=role)))()
    _status, asks = await other.follow(await sync_to_async(entrance)(work, mine))
    status, goes = await other.follow(asks)
    assert (status, goes) == (303, f"/notebooks/{work.uid}/")
    assert "gpn" not in other.kept


async def test_a_word_for_one_browser_is_worth_nothing_in_another(work, mine):
    other = await sync_to_async(lambda: Browser(rows.member(work.project)))()
    _status, asks = await mine.follow(await sync_to_async(entrance)(work, mine))
    _status, back = await mine.follow(asks)
    status, goes = await other.follow(back)
    assert (status, goes) == (303, f"{PORTAL}/notebooks/{work.uid}/")
    assert "gpn" not in other.kept
    other.kept["gpe"] = "guessed"
    await other.follow(back)
    assert "gpn" not in other.kept


async def test_a_word_is_for_its_own_ticket(work, mine):
    _status, asks = await mine.follow(await sync_to_async(entrance)(work, mine))
    _status, back = await mine.follow(asks)
    word = parse_qs(urlsplit(back).query)["word"][0]
    another = await sync_to_async(entrance)(work, mine)
    await mine.follow(f"{another}&word={word}")
    assert "gpn" not in mine.kept


async def test_a_script_with_its_own_token_needs_no_browser(work, mine):
    def asked():
        token, _plain = token_issue(user=work.owner, name="script", actor=Actor.of(work.owner))
        return ticket_issue(workload=work, user=work.owner, token=token)

    plain = await sync_to_async(asked)()
    url = f"{GATEWAY}/enter/{work.uid}?ticket={plain}"
    status, goes = await mine.follow(url, accept="*/*")
    assert (status, goes) == (303, f"/n/{work.uid}/lab")
