"""Running the user's script faithfully: a parent that survives it, a child that is armed before it starts."""
