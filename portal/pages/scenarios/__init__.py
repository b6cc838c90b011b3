"""Templates as those who look after them see them: edited, tried on the pool, reviewed."""
