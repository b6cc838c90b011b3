"""Times in forms: written as people do, read exactly, and told what is wrong with them."""

import pytest
from django.core.exceptions import ValidationError
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from portal.pages.calendar.durations import DurationField, NoDuration, seconds_in, words_of
from portal.pages.scenarios.forms import TIMES
from tests.portal.pages.test_scenarios import WORDS


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90 min", 5400),
        ("2h", 7200),
        ("1 d 12 h", 129_600),
        ("1.5 h", 5400),
        ("1,5 h", 5400),
        ("1:30", 5400),
        ("0:00:05", 5),
        ("2 Hours, 5 minutes", 7500),
        ("1 week", 604_800),
        ("2 小时 30 分钟", 9000),
        ("3天", 259_200),
        ("0 s", 0),
    ],
)
def test_a_time_is_read_as_it_is_written(text, seconds):
    assert seconds_in(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "soon", "2 moons", "h", "1 h -5 min", "-2 h", "0.0001 s", "1:75", "2 h!", "1 mo"]
)
def test_what_is_no_time_is_none(text):
    with pytest.raises(NoDuration) as odd:
        seconds_in(text)
    assert not odd.value.bare


@given(
    seconds=st.integers(min_value=0, max_value=400 * 86_400),
    language=st.sampled_from(["en", "zh-hans"]),
)
def test_what_is_shown_is_read_back_exactly(seconds, language):
    assert seconds_in(words_of(seconds, language)) == seconds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("90", "Say the unit too, as 90 min or 90 h."),
        ("soon", "This is no time. For example 90 min, 2 h or 1 d 12 h."),
        ("30 s", "At least 1 min."),
        ("9 d", "At most 7 d."),
        ("", "Say how long."),
    ],
)
def test_what_is_wrong_is_said_with_units(text, said):
    with pytest.raises(ValidationError) as wrong:
        DurationField(least=60, most=7 * 86_400).clean(text)
    assert wrong.value.messages == [said]


def test_a_number_is_shown_with_its_units_and_what_was_typed_as_it_was():
    field = DurationField()
    assert field.prepare_value(5400) == "1 h 30 min"
    assert field.prepare_value("soon") == "soon"
    with translation.override("zh-hans"):
        assert field.prepare_value(5400) == "1 小时 30 分钟"
    assert not field.has_changed(5400, "90 min")
    assert field.has_changed(5400, "91 min")


def test_a_template_asks_for_no_number_of_seconds(visit, world):
    admin = visit("platform_admin")
    path = f"/templates/{world.version.template.uid}/edit/"
    page = admin.open(path).content.decode()
    assert "(seconds)" not in page
    assert 'value="7 d"' in page
    for name in TIMES:
        answer = admin.send(path, WORDS | {name: "3600"})
        assert answer.status_code == 422, name
        assert "Say the unit too, as 3600 min or 3600 h." in answer.content.decode()


def test_a_template_for_notebooks_on_named_cards_is_made_at_the_page(visit, world):
    admin = visit("platform_admin")
    words = WORDS | {
        "name": "Notebook on a large card",
        "slug": "notebook-large",
        "kind": "notebook",
        "work_class": "notebook",
        "idle_seconds": "2 h",
        "labels": "A100-80GB, H100-80GB",
        "vendors": "nvidia",
        "min_driver": "550.54",
        "organization": world.own.organization.slug,
    }
    answer = admin.send("/templates/new/", words)
    assert answer.status_code == 303, answer.content.decode()
    found = world.version.template.__class__.objects.get(slug="notebook-large")
    version = found.versions.get()
    assert (version.kind, version.idle_seconds) == ("notebook", 7200)
    assert found.organization == world.own.organization
    assert version.need["labels"] == ["A100-80GB", "H100-80GB"]
    assert (version.need["vendors"], version.need["min_driver"]) == (["nvidia"], "550.54")
    page = admin.open(f"/templates/{found.uid}/edit/").content.decode()
    assert 'value="A100-80GB, H100-80GB"' in page and 'value="2 h"' in page
    assert admin.send("/templates/new/", words | {"kind": "external"}).status_code == 422
