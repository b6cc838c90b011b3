"""Storage, secrets and environments, for scripts."""
