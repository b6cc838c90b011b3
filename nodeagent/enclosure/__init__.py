"""What keeps one job in its bounds: control groups, a device fence, and what was tried of them."""
