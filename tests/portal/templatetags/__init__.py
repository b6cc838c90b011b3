"""Words and numbers on pages."""
