"""What-if: recorded work with something changed, replayed by the live scheduler, compared."""
