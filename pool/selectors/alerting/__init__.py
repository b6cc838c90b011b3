"""What alert rules see, and alerts as people read them."""
