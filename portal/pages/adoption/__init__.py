"""Work that the books do not know, on pages."""
