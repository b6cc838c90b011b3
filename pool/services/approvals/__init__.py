"""Deputies, written policies, and what people are told of requests."""
