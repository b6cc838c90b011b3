"""Every template closes what it opens: half a page that is lost shows in the count of its tags."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from tests.architecture.house import files, name

TEMPLATES = list(files(("templates",), ".html"))
ALONE = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr")
)
SAID = re.compile(r"{%\s*comment.*?endcomment\s*%}|{#.*?#}|{%.*?%}|{{.*?}}", re.S)
"""What the template says to the server, not to the reader."""


class Counted(HTMLParser):
    """How many tags of each name are open at the end; fewer than none where one was not opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: Counter[str] = Counter()

    def handle_starttag(self, tag, attrs):
        """One more, unless it holds nothing."""
        self.open[tag] += tag not in ALONE

    def handle_startendtag(self, tag, attrs):
        """Closed where it is opened."""

    def handle_endtag(self, tag):
        """One less."""
        self.open[tag] -= 1


def unbalanced(text: str) -> dict[str, int]:
    """The tags that are opened and not closed, or closed and not opened."""
    counted = Counted()
    counted.feed(SAID.sub("", text))
    counted.close()
    return {tag: count for tag, count in counted.open.items() if count}


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_a_template_closes_what_it_opens(path):
    assert unbalanced(path.read_text(encoding="utf-8")) == {}


def test_the_count_sees_a_block_that_is_lost():
    whole = "<div><noscript><button>{% trans 'Go' %}</button></noscript><br></div>"
    assert unbalanced(whole) == {}
    assert unbalanced(whole.replace("<noscript>", "")) == {"noscript": -1}
    assert unbalanced(whole.replace("</div>", "")) == {"div": 1}
