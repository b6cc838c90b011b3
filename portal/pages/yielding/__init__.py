"""Pages about giving way: orders on a workload's page, and the budget of critical work."""
