"""Reading maintenance windows, reservations, licence seats and the history of policies."""
