"""Reports made of usage and money."""
