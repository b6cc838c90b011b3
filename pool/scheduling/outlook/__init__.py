"""What is to be expected: starts, ends and the effect of other rules, worked out from a plan."""
