"""Changes of notebooks: what nodes and people tell of them, and what is done about idle ones."""
