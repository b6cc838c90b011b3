"""Orders to give way: given, answered, settled; the room they make is kept for who needed it."""
