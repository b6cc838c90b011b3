"""A site of its own that signs people on: allauth's OpenID provider on a port of this machine."""
