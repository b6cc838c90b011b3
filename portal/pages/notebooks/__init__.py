"""Pages about notebooks: the cards, starting one, going in, what is done about idle ones."""
