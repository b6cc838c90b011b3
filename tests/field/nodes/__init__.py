"""Field cases of nodes whose own runner and clocks take part."""
