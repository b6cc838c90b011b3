"""What-ifs and recorded work: made, shared, copied, cancelled, deleted; the way of a run."""
