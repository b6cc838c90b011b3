"""REST of the advisor, of notices, of deputies and of written policies."""
