"""The request's id and the person's language, round every page."""

from django.http import HttpResponse
from django.test import RequestFactory
from django.utils import translation

from pool.events import request_id
from portal.middleware import RequestId, UserLanguage


class Person:
    """Somebody with a language."""

    def __init__(self, language: str) -> None:
        self.language = language


def spoken(request) -> str:
    """The language in which a page would be made."""
    seen = []

    def page(_):
        seen.append(translation.get_language())
        return HttpResponse()

    UserLanguage(page)(request)
    return seen[0]


def asked(path="/", language="zh-hans", cookie=True):
    request = RequestFactory().get(path)
    request.user = Person(language)
    if cookie:
        request.COOKIES["sessionid"] = "x"
    return request


def test_the_id_reaches_the_log_of_events_and_goes_back_with_the_answer():
    seen = []

    def page(_):
        seen.append(request_id.get())
        return HttpResponse()

    answer = RequestId(page)(RequestFactory().get("/", headers={"X-Request-ID": "abc-1"}))
    assert (seen, answer["X-Request-ID"]) == (["abc-1"], "abc-1")
    assert request_id.get() == ""


def test_a_person_reads_in_the_language_that_was_chosen():
    assert spoken(asked()) == "zh-hans"
    assert translation.get_language() == "en"


def test_an_unknown_language_a_script_and_somebody_without_a_login_keep_the_usual_one():
    assert spoken(asked(language="tlh")) == "en"
    assert spoken(asked(path="/api/v1/whoami")) == "en"
    assert spoken(asked(cookie=False)) == "en"
