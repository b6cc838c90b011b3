"""HTTP and sockets of the web process."""

import os
import warnings

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application
from django.urls import path

# WhiteNoise hands Django a plain iterator; under ASGI Django warns of that for every file.
warnings.filterwarnings("ignore", "StreamingHttpResponse must consume synchronous iterators")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.local")
http = get_asgi_application()

from portal.bodies import BodyLimit  # noqa: E402
from portal.gate.door import GateDoor  # noqa: E402
from portal.gate.routing import node_sockets  # noqa: E402
from portal.live.routing import browser_door  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(GateDoor(http)),
        "websocket": URLRouter([*node_sockets, path("live/", browser_door())]),
    }
)
