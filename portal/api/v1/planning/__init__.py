"""REST of capacity planning."""
