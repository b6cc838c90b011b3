"""Make the tables, one client and the people, then answer until killed."""

import json
import os
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

import django
from django.core.management import call_command


class Quiet(WSGIRequestHandler):
    """Writes no line for each call."""

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.portal.access.provider.settings"
    django.setup()
    call_command("migrate", verbosity=0)
    from allauth.account.models import EmailAddress
    from allauth.idp.oidc.models import Client
    from django.contrib.auth.models import User
    from django.core.wsgi import get_wsgi_application

    client = Client(id="pool", name="pool", scopes="openid\nprofile\nemail", skip_consent=True)
    client.set_secret("pool-secret")
    client.redirect_uris = os.environ["PROVIDER_CALLBACK"]
    client.save()
    for one in json.loads(os.environ["PROVIDER_PEOPLE"]):
        user = User.objects.create_user(one["name"], email=one["email"], password="pass")
        EmailAddress.objects.create(
            user=user, email=user.email, verified=one["verified"], primary=True
        )
    port = int(os.environ["PROVIDER_PORT"])
    server = make_server("127.0.0.1", port, get_wsgi_application(), handler_class=Quiet)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
