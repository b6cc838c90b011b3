"""Pure arithmetic of money and time."""
