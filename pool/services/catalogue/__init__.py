"""Storage, secrets and environments: set, removed, given to work."""
