"""Pure small judgements."""
