"""What the pool learns from measured runs where nobody has said it."""
