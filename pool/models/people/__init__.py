"""How people come and what directories say of them."""
