"""Pages about work that is many: arrays, work after other work, schedules."""
