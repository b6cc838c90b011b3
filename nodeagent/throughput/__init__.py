"""What work says of its own speed: in a file, by a push, or where it is asked."""
