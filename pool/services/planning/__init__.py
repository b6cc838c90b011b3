"""What capacity planning changes."""
