"""AMD cards through their own library, or their own programs where it is missing."""
