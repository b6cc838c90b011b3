"""Pages about notebooks, idle rules, nights and memory that is held for nothing."""
