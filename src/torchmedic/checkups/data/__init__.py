"""Looking at data before it reaches a model: tables, arrays, images, graphs."""
