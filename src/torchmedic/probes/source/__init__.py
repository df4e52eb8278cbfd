"""The user's own code: frames, lines, expressions, and which line made what."""
