"""The advisor: a few questions beside a living answer."""
