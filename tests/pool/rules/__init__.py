"""Small judgements."""
