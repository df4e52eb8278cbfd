"""Numbers that stop being finite."""
