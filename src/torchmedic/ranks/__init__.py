"""Several processes that make one run: their folders, their last calls, their merged facts."""
