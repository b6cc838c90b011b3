"""What a new installation begins with."""
