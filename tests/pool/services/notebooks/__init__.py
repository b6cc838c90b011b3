"""Rules of idleness, nights, and who holds memory for nothing."""
