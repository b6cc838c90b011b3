"""Deputies, policies, reminders, leases that change."""
