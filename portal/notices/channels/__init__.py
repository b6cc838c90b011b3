"""Ways out of the house that a whole pool shares: chats, receivers, other alert managers."""
