"""allauth's questions, answered for this pool: accounts are made by admins, never by strangers."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest
from django.utils import translation

from pool.models.users import User


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Signing up is closed; a login keeps the language that the person once chose."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def login(self, request: HttpRequest, user: User) -> None:
        """Log in; the language cookie follows in `portal.pages.language`."""
        super().login(request, user)
        if user.language:
            translation.activate(user.language)
