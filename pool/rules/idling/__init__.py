"""PURE: what may be said of a rule of idleness, of a night, and who holds memory for nothing."""
