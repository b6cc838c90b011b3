"""What work may use beside cards: storage, secrets, environments."""
