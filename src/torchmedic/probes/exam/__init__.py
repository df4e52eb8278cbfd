"""The exam of the wiring: parameters, optimizers, graphs, modes, schedules and checkpoints in the first steps."""
