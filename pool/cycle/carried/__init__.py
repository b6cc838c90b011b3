"""What the rounds of one process carry from one to the next: rows that have not changed since."""
