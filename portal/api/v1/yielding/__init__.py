"""REST of giving way: orders of a workload, and the budget of critical work."""
