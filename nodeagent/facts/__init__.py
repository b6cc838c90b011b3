"""Published facts of cards, as data; opened with importlib.resources."""
