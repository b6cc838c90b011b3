"""How notices leave the house: letters, the reader's own receiver, and the task that sends them."""
