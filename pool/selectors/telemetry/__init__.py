"""What can be read of condensed values."""
