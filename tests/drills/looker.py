"""A person who looks at one page the whole time and never reloads it."""

import contextlib
import http.cookiejar
import json
import re
import threading
import urllib.parse
import urllib.request

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.house import House


class Looker:
    """Logged in as a role; keeps what the live line last put into each part of the page."""

    def __init__(self, house: House, role: str, topics: list[str]) -> None:
        self.url = house.stack.url
        self.topics = topics
        self.html: dict[str, str] = {}
        self.jar = http.cookiejar.CookieJar()
        self.browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        self._log_in(next(row for row in house.people if row["role"] == role))
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> "Looker":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(20)

    def page(self, path: str) -> str:
        """A page, opened anew."""
        return self.browser.open(self.url + path, timeout=30).read().decode()

    def state(self, topic: str) -> str:
        """The state that the page shows for a workload, without having been reloaded."""
        found = re.search(r'data-state="(\w+)"', self.html.get(topic, ""))
        return found.group(1) if found else ""

    def _log_in(self, person: dict[str, str]) -> None:
        form = self.page("/accounts/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert token, form
        words = {
            "login": person["username"],
            "password": person["password"],
            "csrfmiddlewaretoken": token.group(1),
        }
        asked = urllib.request.Request(
            f"{self.url}/accounts/login/",
            urllib.parse.urlencode(words).encode(),
            {"Referer": f"{self.url}/accounts/login/"},
        )
        self.browser.open(asked, timeout=30)

    def _look(self) -> None:
        """As the page's own script does: connect, subscribe, and again when the line breaks."""
        while not self._over.is_set():
            with contextlib.suppress(OSError, WebSocketException, TimeoutError):
                self._listen()
            self._over.wait(0.5)

    def _listen(self) -> None:
        cookies = "; ".join(f"{one.name}={one.value}" for one in self.jar)
        address = self.url.replace("http", "ws", 1) + "/live/"
        with connect(
            address, origin=self.url, additional_headers={"Cookie": cookies}, open_timeout=10
        ) as line:
            line.send(json.dumps({"subscribe": self.topics}))
            while not self._over.is_set():
                with contextlib.suppress(TimeoutError):
                    said = json.loads(line.recv(timeout=0.5))
                    if "html" in said:
                        self.html[said["topic"]] = said["html"]
