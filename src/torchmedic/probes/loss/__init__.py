"""The exam of the loss: what it is given, what it depends on, and which way it pulls."""
