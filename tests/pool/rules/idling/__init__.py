"""What may be said of idleness."""
