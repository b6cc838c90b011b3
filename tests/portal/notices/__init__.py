"""How notices leave the house."""
