"""The gateway process: notebooks on an origin of their own, and the agents' tunnels to them.

Whoever starts it names the settings (`DJANGO_SETTINGS_MODULE`), as for every other process.
"""

import django

django.setup()

from portal.gateway.door import Gateway  # noqa: E402 - Django has to be there first

app = Gateway()
