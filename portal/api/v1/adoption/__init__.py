"""Work that the books do not know, over REST."""
