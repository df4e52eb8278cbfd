PRETRAIN = {
    "model": {"n_in": 20, "width": 96, "depth": 2, "n_out": 20},
    "epochs": 6,
    "lr": 2e-3,
}

FINETUNE = {
    "model": {"n_in": 20, "width": 64, "depth": 2, "n_out": 2},
    "epochs": 10,
    "lr": 1e-3,
}
