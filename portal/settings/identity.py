"""Who people are: local accounts, second factors, single sign-on, a directory."""

from typing import Any
from urllib.parse import urlsplit

from portal.settings import env

LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = False
ACCOUNT_ADAPTER = "portal.access.adapter.AccountAdapter"
ACCOUNT_LOGOUT_ON_GET = False
# Counted in the database, so that every web process counts the same: an account and an address are
# shut for five minutes after five failures, an address after ten a minute.
ACCOUNT_RATE_LIMITS = {"login_failed": "10/m/ip,5/5m/key", "login": "30/m/ip"}
# Reverse proxies in front whose X-Forwarded-For tells the real address.
ALLAUTH_TRUSTED_PROXY_COUNT = env.number("TRUSTED_PROXIES", 0)

MFA_ADAPTER = "portal.access.second_factor.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "GPU pool"
# Roles that get nowhere without a second factor, comma-separated.
MFA_REQUIRED_ROLES = env.names("MFA_REQUIRED_ROLES")

OIDC_SERVER = env.text("OIDC_SERVER")
OIDC_NAME = env.text("OIDC_NAME", "Single sign-on")
OIDC_GROUPS_CLAIM = env.text("OIDC_GROUPS_CLAIM", "groups")
# Whether somebody whom the provider knows and the pool does not gets an account.
OIDC_CREATES = env.flag("OIDC_CREATES_ACCOUNTS")
SOCIALACCOUNT_ADAPTER = "portal.access.single_sign_on.SingleSignOnAdapter"
SOCIALACCOUNT_AUTO_SIGNUP = True
SOCIALACCOUNT_LOGIN_ON_GET = False
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_QUERY_EMAIL = False
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "SCOPE": ["openid", "profile", "email", *env.names("OIDC_SCOPES")],
        "APPS": [
            {
                "provider_id": "sso",
                "name": OIDC_NAME,
                "client_id": env.text("OIDC_CLIENT_ID"),
                "secret": env.text("OIDC_CLIENT_SECRET"),
                "settings": {"server_url": OIDC_SERVER},
            }
        ]
        if OIDC_SERVER
        else [],
    }
}


def origin(url: str) -> list[str]:
    """Scheme and host of an address, for the content security policy; none of none."""
    parts = urlsplit(url)
    return [f"{parts.scheme}://{parts.netloc}"] if parts.scheme and parts.netloc else []


# A log-in by single sign-on is a form that is answered by a redirect to the provider.
SSO_ORIGINS = origin(OIDC_SERVER)

LDAP_URL = env.text("LDAP_URL")
LDAP_STARTTLS = env.flag("LDAP_STARTTLS")
LDAP_CA_FILE = env.text("LDAP_CA_FILE")
LDAP_BIND_DN = env.text("LDAP_BIND_DN")
LDAP_BIND_PASSWORD = env.text("LDAP_BIND_PASSWORD")
LDAP_USER_BASE = env.text("LDAP_USER_BASE")
LDAP_USER_FILTER = env.text("LDAP_USER_FILTER", "(objectClass=person)")
LDAP_USER_NAME = env.text("LDAP_USER_NAME", "uid")
LDAP_GROUP_BASE = env.text("LDAP_GROUP_BASE")
LDAP_GROUP_FILTER = env.text(
    "LDAP_GROUP_FILTER", "(|(objectClass=groupOfNames)(objectClass=posixGroup))"
)
AUTHENTICATION_BACKENDS = [
    "allauth.account.auth_backends.AuthenticationBackend",
    *(["portal.access.directory.DirectoryBackend"] if LDAP_URL else []),
]
