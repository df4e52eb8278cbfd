"""Parameters, optimizers, graphs, modes, schedulers and checkpoints that are put together wrongly."""
