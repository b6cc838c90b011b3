"""Pages about money: the team's month, statements, budgets, prices and what was agreed."""
