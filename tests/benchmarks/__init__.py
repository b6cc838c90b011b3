"""Speed, printed and never asserted as wall time."""
