"""Trains two estimators together on a knowledge graph, with early stopping. `--sick` brings one of the old troubles back."""

import argparse

import pandas as pd
import torch
from torch import nn
from torchmedic import EarlyStopping, log

from graphs import SIZES, make
from model import Estimator, MisspelledLoss, UncertainLoss

SICK = ["none", "edge-weight", "retain-graph", "born-in-forward", "module-list", "misspelled", "empty-filter"]


def split(labelled, sick):
    """Positions of labelled nodes for training and validation, by a table of the kind that such data come with."""
    table = pd.DataFrame({"node": labelled.numpy(), "kind": "film"})
    table["year"] = 1950 + table["node"] % 70
    table["part"] = ["train" if n % 5 else "valid" for n in range(len(table))]
    kind = "movie" if sick == "empty-filter" else "film"
    chosen = table[(table["year"] >= 1960) & (table["kind"] == kind) & (table["part"] == "train")]
    valid = table[(table["kind"] == "film") & (table["part"] == "valid")]
    return torch.tensor(chosen.index.to_numpy()), torch.tensor(valid.index.to_numpy())


def correlation(predicted, wanted):
    return torch.corrcoef(torch.stack([predicted, wanted]))[0, 1].item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--graph", choices=sorted(SIZES), default="small")
    parser.add_argument("--full", action="store_true", help="the same as --graph fb15k")
    parser.add_argument("--sick", choices=SICK, default="none")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--patience", type=int, default=15)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=4, help="N of the attention [nodes, heads, N, N]")
    parser.add_argument("--layers", type=int, default=2)
    options = parser.parse_args()
    torch.manual_seed(0)
    graph = make("fb15k" if options.full else options.graph)
    sick = "edge-weight" if options.sick == "retain-graph" else options.sick
    train_rows, valid_rows = split(graph.labelled, options.sick)
    wanted = graph.importance
    centre = wanted[train_rows].max() / 2
    models = [Estimator(graph, options.width, options.tokens, options.layers, sick) for _ in range(2)]
    criterion = MisspelledLoss() if options.sick == "misspelled" else UncertainLoss()
    optimizer = torch.optim.Adam([p for model in models for p in model.parameters()], lr=5e-3)
    both = nn.ModuleList(models)
    stopping = EarlyStopping(patience=options.patience, monitor="valid_loss")
    for epoch in range(options.epochs):
        answers = [model(graph) for model in models]
        own = sum(criterion(m[graph.labelled][train_rows], s[graph.labelled][train_rows], wanted[train_rows] - centre) for m, s in answers)
        # The two estimators teach each other on nodes without a label.
        agree = nn.functional.mse_loss(answers[0][0], answers[1][0].detach()) + nn.functional.mse_loss(answers[1][0], answers[0][0].detach())
        loss = own + 0.1 * agree
        optimizer.zero_grad()
        loss.backward(retain_graph=options.sick == "retain-graph")
        optimizer.step()
        with torch.no_grad():
            mean = sum(model(graph)[0] for model in models) / len(models)
            held_out = mean[graph.labelled][valid_rows]
            valid_loss = nn.functional.mse_loss(held_out, wanted[valid_rows] - centre).item()
        score = correlation(held_out, wanted[valid_rows])
        log("correlation", score)
        if epoch % 10 == 0:
            print(f"epoch {epoch}: loss {loss.item():.4f}, valid loss {valid_loss:.4f}, correlation {score:.3f}", flush=True)
        if stopping.step(valid_loss, both):
            print(f"stopped early at epoch {epoch}, best valid loss {stopping.best:.4f} at epoch {stopping.best_epoch}")
            break
    stopping.restore(both)


if __name__ == "__main__":
    main()
