"""What-ifs and recorded work as people may read them."""
