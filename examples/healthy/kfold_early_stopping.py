"""Five models in one process: each fold makes its own scaler, model and optimizer, and stops early at its best epoch."""
import copy

import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

SEED = 7
data = load_breast_cancer()


def tensors(scaler, rows):
    x = torch.tensor(scaler.transform(data.data[rows]), dtype=torch.float32)
    return x, torch.tensor(data.target[rows], dtype=torch.float32)


def run_fold(fold, train_rows, test_rows):
    torch.manual_seed(SEED + fold)
    fit_rows, val_rows = train_test_split(train_rows, test_size=0.2, random_state=SEED, stratify=data.target[train_rows])
    scaler = StandardScaler().fit(data.data[fit_rows])
    (x, y), (xv, yv), (xt, yt) = (tensors(scaler, r) for r in (fit_rows, val_rows, test_rows))
    model = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    best, best_state, patience = float("inf"), None, 0
    for epoch in range(60):
        model.train()
        for b in torch.randperm(len(x)).split(32):
            loss = F.binary_cross_entropy_with_logits(model(x[b]).squeeze(1), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            val = F.binary_cross_entropy_with_logits(model(xv).squeeze(1), yv).item()
        if val < best - 1e-4:
            best, best_state, patience = val, copy.deepcopy(model.state_dict()), 0
        else:
            patience += 1
            if patience == 5:
                break
    model.load_state_dict(best_state)
    model.eval()
    with torch.no_grad():
        acc = ((model(xt).squeeze(1) > 0) == (yt > 0.5)).float().mean().item()
    print(f"fold {fold} stopped after epoch {epoch + 1} best val {best:.4f} test acc {acc:.3f}")
    return acc


folds = StratifiedKFold(5, shuffle=True, random_state=SEED)
scores = [run_fold(i, tr, te) for i, (tr, te) in enumerate(folds.split(data.data, data.target))]
print(f"final mean accuracy {sum(scores) / len(scores):.3f}")
