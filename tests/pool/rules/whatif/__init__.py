"""Rules of what-if."""
