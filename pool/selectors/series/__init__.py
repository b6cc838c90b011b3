"""What can be read of arrays, of work after work, and of schedules."""
