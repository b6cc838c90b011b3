"""Who sees which storage, secrets and environments, and where they are."""
