"""How people are told, who decides for whom, and by which written policy."""
