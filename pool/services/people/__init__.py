"""People come and go, and the places they work in open, change, move and close."""
