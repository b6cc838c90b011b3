"""Pages of what is decided ahead: maintenance, reservations, partitions, numbers, seats."""
