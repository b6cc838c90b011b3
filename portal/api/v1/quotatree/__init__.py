"""REST of what stands beside quota rows: many at once, planned, drifted, cut back."""
