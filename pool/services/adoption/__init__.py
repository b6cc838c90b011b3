"""Work that the books did not know: seen, adopted by a person, stopped by a person."""
