"""The catalogues over REST."""
