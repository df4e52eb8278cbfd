"""Check-ups that need no running training."""
