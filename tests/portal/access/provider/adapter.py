"""Says the groups of a person, as sites' providers do."""

import json
import os

from allauth.idp.oidc.adapter import DefaultOIDCAdapter


class Adapter(DefaultOIDCAdapter):
    """The usual claims, and `groups` from the environment."""

    def get_claims(self, purpose, user, client, scopes, email=None, **more):
        told = super().get_claims(purpose, user, client, scopes, email=email, **more)
        people = json.loads(os.environ["PROVIDER_PEOPLE"])
        groups = {one["name"]: one["groups"] for one in people}
        return told | {"groups": groups.get(user.username, []), "preferred_username": user.username}
