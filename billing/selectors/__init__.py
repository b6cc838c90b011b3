"""What can be read of money."""
