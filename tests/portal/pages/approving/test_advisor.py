"""The advisor's page: each of its questions can be answered, with and without JavaScript."""

import re

from portal.pages.advisor.questions import QuestionForm

PATH = "/requests/advisor/"
ASKED = {"project": "vision", "task": "finetuning", "number": "1", "time_value": "8 h"}


def test_the_page_asks_every_question_and_has_a_button(visit):
    text = visit("member").open(PATH).content.decode()
    form = text[text.index('id="question-form"') : text.index('id="advice"')]
    for name in QuestionForm.base_fields:
        assert f'name="{name}"' in form, name
    assert re.search(r"<noscript>\s*<div[^>]*>\s*<button[^>]*type=\"submit\"", form)
    assert form.count("<div") == form.count("</div") + 2, "the answer lies beside the questions"


def test_the_page_answers_what_its_address_says_without_javascript(visit):
    said = visit("member").open(PATH).context["told"]
    assert said is None
    asked = "&".join(f"{name}={value}" for name, value in (ASKED | {"apart": "on"}).items())
    answer = visit("member").open(f"{PATH}?{asked.replace(' ', '+')}")
    assert answer.context["told"].answer.best is not None
    assert answer.context["form"].answers.apart is True
    assert re.search(r'name="apart"\s+checked', answer.content.decode())
