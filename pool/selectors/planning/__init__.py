"""What the pool did over weeks: use, demand, waits; each in a few queries, whatever the size."""
