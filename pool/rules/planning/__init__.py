"""PURE: whether to buy or to use better what is there, and what the numbers say of each team."""
