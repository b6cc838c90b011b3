"""Work that nodes run and the books do not know."""
