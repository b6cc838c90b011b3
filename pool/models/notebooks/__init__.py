"""Tables of notebooks: what is known of each, and the rules by which they are judged idle."""
