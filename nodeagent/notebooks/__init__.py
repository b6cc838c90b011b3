"""Notebooks of one node: their environment, their start, what moves in them, ways into them."""
