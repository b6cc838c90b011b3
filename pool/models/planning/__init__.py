"""Tables of capacity planning."""
