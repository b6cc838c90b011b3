"""What is known of the cards themselves, apart from who holds them."""
