"""How often one caller may call: counted in the process, so that no cache has to live."""

from typing import Any

from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle

from portal.access.rates import Rate
from portal.models import ApiToken

SPANS = {"s": 1, "sec": 1, "min": 60, "m": 60, "hour": 3600, "h": 3600}


def rate_of(text: str) -> Rate:
    """`1200/min` as a counter."""
    count, _, span = text.partition("/")
    return Rate(limit=int(count), seconds=SPANS[span])


class TokenRate(BaseThrottle):
    """So many calls a token (or a logged-in person) in a span, as the settings say."""

    rate = rate_of(str(api_settings.DEFAULT_THROTTLE_RATES["token"]))

    def __init__(self) -> None:
        self._wait = 0.0

    def allow_request(self, request: Request, view: Any) -> bool:
        if isinstance(request.auth, ApiToken):
            key = request.auth.uid
        elif request.user.is_authenticated:
            key = request.user.uid
        else:
            return True
        self._wait = self.rate.knock(key)
        return not self._wait

    def wait(self) -> float:
        """Seconds until the next call is answered."""
        return self._wait
