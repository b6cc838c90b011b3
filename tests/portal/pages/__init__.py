"""Pages, as the server gives them."""
