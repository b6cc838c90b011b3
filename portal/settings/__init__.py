"""Settings by matter, switched by environment."""
