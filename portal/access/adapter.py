"""allauth's questions, answered for this pool: accounts are made by admins, never by strangers."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Nobody makes an account for themselves."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
