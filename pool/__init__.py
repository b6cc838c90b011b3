"""Cards, who wants them, who holds them."""
