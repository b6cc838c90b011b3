"""Language, time zone and name: kept with the account, in this browser, and nowhere else."""

from django.test import Client

from pool.models import Event


def test_the_language_switch_is_kept_and_recorded_once(visit, world):
    member = visit("member")
    for _ in range(2):
        answer = member.send("/language/", {"language": "zh-hans", "next": "/workloads/"})
        assert (answer.status_code, answer["Location"]) == (303, "/workloads/")
    member.user.refresh_from_db()
    assert member.user.language == "zh-hans"
    assert Event.objects.filter(kind="user.changed").count() == 1
    assert "任务" in member.open("/workloads/").content.decode()


def test_the_language_switch_leads_to_no_other_site_and_takes_no_unknown_language(visit):
    stranger = Client()
    given = {"language": "xx", "next": "https://evil.example/"}
    answer = stranger.post("/language/", given)
    assert answer["Location"] == "/"
    assert "django_language" not in answer.cookies


def test_a_profile_is_saved_and_a_wrong_zone_refused(visit, world):
    member = visit("member")
    given = {"display_name": "Ada 小明", "language": "", "zone": "Asia/Shanghai"}
    assert member.send("/profile/", given).status_code == 303
    shown = member.open("/").content.decode()
    assert 'data-zone="Asia/Shanghai"' in shown
    assert "Ada 小明" in shown
    assert member.send("/profile/", given | {"zone": "Mars/Base"}).status_code == 422


def test_a_password_is_changed_only_with_the_old_one(visit, world):
    member = visit("member")
    member.user.set_password("an old one 1")
    member.user.save()
    member.client.force_login(member.user)
    given = {"oldpassword": "wrong", "password1": "new-words-77", "password2": "new-words-77"}
    answer = member.send("/accounts/password/change/", given)
    assert answer.context["form"].errors["oldpassword"]
    answer = member.send("/accounts/password/change/", given | {"oldpassword": "an old one 1"})
    assert answer.status_code == 302
    member.user.refresh_from_db()
    assert member.user.check_password("new-words-77")
