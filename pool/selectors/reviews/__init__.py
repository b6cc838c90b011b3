"""What was asked for beside what was used, for those who look after templates."""
