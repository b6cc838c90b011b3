"""What a person sees in Chromium."""
