"""How the agent talks to cards: one package per vendor behind one protocol."""
