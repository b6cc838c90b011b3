"""What is read of work that the books do not know."""
