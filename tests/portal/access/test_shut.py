"""Pages of the login library that are not offered do not exist."""

import pytest

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "path",
    [
        "signup/",
        "email/",
        "confirm-email/",
        "confirm-email/abc/",
        "password/set/",
        "password/reset/",
        "password/reset/key/abc-def/",
        "login/code/confirm/",
        "reauthenticate/code/",
        "3rdparty/",
        "3rdparty/signup/",
        "social/connections/",
    ],
)
def test_nobody_sets_an_address_or_a_first_password_by_the_library_s_own_pages(
    path, client, django_user_model
):
    person = django_user_model.objects.create_user("mei", password="a-good-one-1")  # noqa: S106
    assert client.get(f"/accounts/{path}").status_code == 404
    client.force_login(person)
    assert client.get(f"/accounts/{path}").status_code == 404
    assert client.post(f"/accounts/{path}", {"email": "chief@corp"}).status_code == 404


@pytest.mark.parametrize("path", ["login/", "2fa/", "password/change/", "logout/"])
def test_what_is_offered_is_still_there(path, client, django_user_model):
    assert client.get(f"/accounts/{path}").status_code in {200, 302}
