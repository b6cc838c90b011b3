"""Pure cutting of cards."""
