"""Tables of money."""
