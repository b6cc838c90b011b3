"""A made-up month for a look around: a mixed fleet, teams, and what the scheduler made of it."""
