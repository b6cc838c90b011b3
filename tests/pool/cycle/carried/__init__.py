"""What rounds carry from one to the next is what a look from nothing finds."""
