"""Reading what people and places have: what lives of them, who is invited, who inherits."""
