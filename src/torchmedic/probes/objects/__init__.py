"""What live objects are, where they come from, and who holds them."""
