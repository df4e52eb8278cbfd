"""What happens in a training, turned into events: batches, backward passes, updates, modules that are called."""
