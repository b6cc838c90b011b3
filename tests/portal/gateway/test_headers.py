"""Nothing of the portal or the person reaches a notebook; nothing of it leaves its origin."""

from portal.gateway import headers

ASKED = [
    (b"host", b"localhost:8001"),
    (b"authorization", b"Bearer of-the-person"),
    (b"cookie", b"sessionid=secret; gpn=pass; _xsrf=2|abc; csrftoken=x"),
    (b"x-forwarded-for", b"10.0.0.1"),
    (b"connection", b"keep-alive, upgrade"),
    (b"accept-encoding", b"gzip"),
    (b"content-length", b"10"),
]


def test_only_the_notebook_s_own_token_and_cookie_go_in():
    found = headers.inward(ASKED, "of-the-notebook", plain=False)
    assert (b"authorization", b"token of-the-notebook") in found
    assert [v for k, v in found if k == b"cookie"] == [b"_xsrf=2|abc"]
    assert not {b"connection", b"x-forwarded-for"} & {k for k, _ in found}
    assert not any(b"secret" in v or b"of-the-person" in v or v == b"pass" for _, v in found)


def test_a_page_that_is_changed_on_the_way_is_asked_for_in_plain():
    found = dict(headers.inward(ASKED, "t", plain=True))
    assert found[b"accept-encoding"] == b"identity"


def test_what_comes_out_has_the_gateway_s_policy_and_no_cookie_but_its_own():
    said = [
        (b"Content-Security-Policy", b"default-src *"),
        (b"Set-Cookie", b"username-x=1; Path=/"),
        (b"Set-Cookie", b"_xsrf=2|abc; Path=/n/x/"),
        (b"Transfer-Encoding", b"chunked"),
        (b"Content-Type", b"text/html"),
    ]
    found = headers.outward(said, "localhost:8001", secure=False)
    policies = [v.decode() for k, v in found if k == b"content-security-policy"]
    assert len(policies) == 1
    assert "connect-src 'self' ws://localhost:8001;" in policies[0]
    assert [v for k, v in found if k == b"set-cookie"] == [b"_xsrf=2|abc; Path=/n/x/"]
    assert b"transfer-encoding" not in {k for k, _ in found}


def test_a_cookie_that_cannot_be_read_is_none():
    assert headers.cookie_of([(b"cookie", b'gpn="a;\x00')], "gpn") == ""
    assert headers.cookie_of([], "gpn") == ""
