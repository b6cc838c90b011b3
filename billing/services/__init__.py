"""What can be done to money."""
