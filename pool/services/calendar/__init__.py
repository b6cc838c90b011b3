"""What is decided ahead of time: maintenance, reservations, licence seats, numbers and policies."""
