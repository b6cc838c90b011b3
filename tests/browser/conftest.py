"""One real stack and one Chromium for all browser tests; people log in as people do."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from tests.house import House


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test here needs the whole stack and Chromium."""
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.flow)
            item.add_marker(pytest.mark.browser)


@dataclass
class Person:
    """Somebody at a browser; what the page complained about is kept in `complaints`."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page

    def hear(self) -> None:
        """Keep errors of scripts, of the content policy, and answers that are nobody's wish."""
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", self._failed)

    def _console(self, message: ConsoleMessage) -> None:
        told_elsewhere = "Failed to load resource" in message.text
        # htmx says both of a request that the page itself gave up for a newer one; a request that
        # failed says htmx:sendError as well, and that stays.
        given_up = message.text.startswith(("htmx:afterRequest,", "htmx:sendAbort,"))
        if message.type == "error" and not told_elsewhere and not given_up:
            self.complaints.append(message.text)

    def _failed(self, request: Request) -> None:
        if "ERR_ABORTED" not in (request.failure or ""):
            self.complaints.append(f"{request.url}: {request.failure}")


@pytest.fixture(scope="package")
def house() -> Iterator[House]:
    """A real stack with eight simulated cards."""
    made = House()
    try:
        made.stack.ready()
        yield made
    finally:
        made.over()


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """The system's Chromium."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "Chromium is not installed"
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def person(house: House, chromium: Browser):
    """Logs in somebody of the example project by role; their page must not complain."""
    made: list[Person] = []

    def enter(role: str, *, width: int = 1440, dark: bool = False, locale: str = "en-GB") -> Person:
        row = next(
            one
            for one in house.people
            if one["role"] == role and one.get("project") in (None, "", house.project)
        )
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            locale=locale,
        )
        one = Person(context.new_page(), house.stack.url)
        one.hear()
        page = one.open("/accounts/login/")
        page.fill("[name=login]", row["username"])
        page.fill("[name=password]", row["password"])
        page.click("button.btn-primary")
        page.wait_for_url(house.stack.url + "/")
        made.append(one)
        return one

    yield enter
    for one in made:
        one.page.context.close()
    assert [said for one in made for said in one.complaints] == []
