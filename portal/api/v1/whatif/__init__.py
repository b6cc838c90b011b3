"""REST of what-ifs and of recorded work."""
