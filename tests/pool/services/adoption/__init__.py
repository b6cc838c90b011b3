"""Work that the books did not know."""
