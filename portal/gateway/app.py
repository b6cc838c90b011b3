"""The gateway process: notebooks on an origin of their own, and the agents' tunnels to them."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.local")
django.setup()

from portal.gateway.door import Gateway  # noqa: E402 - Django has to be there first

app = Gateway()
