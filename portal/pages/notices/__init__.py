"""Pages about what people are told."""
