"""A receiver's odd address is that person's matter: others' letters go on."""

import pytest

from portal.notices.channels.dial import NotDialled, public


@pytest.mark.parametrize(
    "url",
    ["http://x:99999/", "http://[", "http://a..b/", "ftp://x/", "http:///", "http://127.0.0.1/"],
)
def test_an_address_that_cannot_be_dialled_is_told_so_and_nothing_else_happens(url):
    with pytest.raises(NotDialled):
        public(url)
