"""The words that portal and node agent speak: the standard library and msgspec only."""
