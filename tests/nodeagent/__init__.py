"""The node agent, on its own: no database, no portal."""
