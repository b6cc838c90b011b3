"""Money over REST: statements, complaints and budgets."""
