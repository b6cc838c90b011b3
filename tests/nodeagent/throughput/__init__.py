"""What work says of its own speed."""
