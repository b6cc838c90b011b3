"""Cards that exist only as published facts: a product feature, and the ground of the tests."""
