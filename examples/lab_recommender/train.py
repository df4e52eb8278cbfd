"""Trains the recommender for lab tests from tables to a tested model. Every suspect of the two-week hunt is a flag.

    python train.py                     # the loss is NaN, and nothing says why
    torchmedic run train.py             # why
    python train.py --floor 1e-6        # the cure
"""

import argparse
import copy
from pathlib import Path

import pandas as pd
import torch
from torch import nn

from model import ACTIVATIONS, STEPS, Recommender
from prepare import make_graphs
from tables import make


def targets(graph, scores, sick_shape=False):
    """A dense matrix for every step: 1 where an admission gets an item on the next day."""
    edges, step = graph["admission", "next", "item"].edge_index, graph["admission", "next", "item"].step
    wanted = []
    for number in range(STEPS):
        if sick_shape:
            matrix = torch.zeros(scores.shape[0], scores.shape[1])
        else:
            matrix = torch.zeros(scores.shape[-2], scores.shape[-1])
        admissions, items = edges[:, step == number]
        matrix[admissions, items] = 1.0
        wanted.append(matrix)
    return torch.stack(wanted).to(scores.dtype)


def loss_of(kind, scores, wanted):
    if kind == "bce":
        return nn.functional.binary_cross_entropy(torch.sigmoid(scores), wanted)
    if kind == "logits":
        return nn.functional.binary_cross_entropy_with_logits(scores, wanted)
    return nn.functional.mse_loss(torch.sigmoid(scores), wanted)


def hits_at(scores, wanted, k=20):
    """Of the items that were ordered, the share among the `k` with the highest scores, over admissions and steps."""
    found = wanted.gather(-1, scores.topk(k, dim=-1).indices).sum()
    return (found / wanted.sum()).item()


def evaluate(model, graphs):
    model.eval()
    with torch.no_grad():
        answers = [(graph, model(graph)) for graph in graphs]
    return sum(hits_at(scores, targets(graph, scores)) for graph, scores in answers) / len(graphs)


def like_scores(graph):
    return torch.zeros(STEPS, graph["admission"].x.shape[0], graph["item"].x.shape[0])


def frequencies(graphs):
    """How often each item is ordered on a day."""
    return torch.stack([targets(graph, like_scores(graph)).mean(dim=(0, 1)) for graph in graphs]).mean(dim=0)


def baseline(frequency, held_out):
    """The same 20 most frequent items for everyone."""
    answers = [(graph, like_scores(graph)) for graph in held_out]
    return sum(hits_at(frequency.expand_as(s), targets(graph, s)) for graph, s in answers) / len(held_out)


def load(files, dtype):
    return [torch.load(file, weights_only=False).apply(lambda t: t.to(dtype) if t.is_floating_point() else t) for file in files]


def train(options, graphs, valid, frequency):
    mask_value = -torch.inf if options.mask == "inf" else float(options.mask)
    model = Recommender(
        frequency,
        gnn=options.gnn,
        gnn_layers=options.gnn_layers,
        decoder_layers=options.decoder_layers,
        activation=options.activation,
        mask_value=mask_value,
    ).to(options.device, torch.float64 if options.double else torch.float32)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.lr)
    best, best_state, waited = 0.0, None, 0
    for epoch in range(options.epochs):
        model.train()
        total = 0.0
        for graph in graphs:
            scores = model(graph)
            loss = loss_of(options.loss, scores, targets(graph, scores, options.sick_shape))
            optimizer.zero_grad()
            loss.backward()
            if options.clip:
                nn.utils.clip_grad_norm_(model.parameters(), options.clip)
            optimizer.step()
            total += loss.item()
        score = evaluate(model, valid)
        print(f"epoch {epoch}: loss {total / len(graphs):.4f}, validation hits@20 {score:.3f}", flush=True)
        waited = 0 if score > best else waited + 1
        if score > best:
            best, best_state = score, copy.deepcopy(model.state_dict())
        if waited == options.patience:
            print(f"stopped early, best {best:.3f}")
            break
    if best_state is not None:
        model.load_state_dict(best_state)
    return model


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--admissions", type=int, default=768)
    parser.add_argument("--full", action="store_true", help="58,976 admissions, as many as the hospital has")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--patience", type=int, default=4)
    parser.add_argument("--floor", type=float, default=0.0, help="least standard deviation to divide by: the cure")
    parser.add_argument("--epsilon", type=float, default=0.0, help="added to the standard deviation: 1e-17 hides it")
    suspects = parser.add_argument_group("suspects of the hunt")
    suspects.add_argument("--batch-size", type=int, default=128)
    suspects.add_argument("--fill", type=float, default=0.0, help="what missing z-scores become: 0 or 1e-11")
    suspects.add_argument("--lr", type=float, default=5e-3)
    suspects.add_argument("--double", action="store_true", help="float64 throughout")
    suspects.add_argument("--gnn", choices=["gine", "gen", "gat"], default="gine")
    suspects.add_argument("--gnn-layers", type=int, default=2)
    suspects.add_argument("--decoder-layers", type=int, default=3)
    suspects.add_argument("--activation", choices=sorted(ACTIVATIONS), default="relu")
    suspects.add_argument("--mask", default="inf", help="inf or a number such as -1e31")
    suspects.add_argument("--loss", choices=["logits", "bce", "mse"], default="logits")
    suspects.add_argument("--clip", type=float, default=0.0)
    suspects.add_argument("--device", default="cpu")
    suspects.add_argument("--sick-shape", action="store_true", help="the dense matrix of case A2")
    return parser.parse_args()


def make_or_find_tables(folder, admissions):
    """Make the tables where they are not all there; never write over some of another size."""
    if not (folder / "ADMISSIONS.csv.gz").exists() or not (folder / "LABEVENTS.csv.gz").exists():
        make(folder, admissions)
        return
    found = len(pd.read_csv(folder / "ADMISSIONS.csv.gz"))
    if found != admissions:
        raise SystemExit(f"{folder} holds {found} admissions, not {admissions}: choose another folder with --data")


def main():
    options = arguments()
    torch.manual_seed(0)
    make_or_find_tables(options.data, 58_976 if options.full else options.admissions)
    files = make_graphs(
        options.data, options.data / "graphs", options.batch_size, options.fill, options.floor, options.epsilon
    )
    graphs = load(files, torch.float64 if options.double else torch.float32)
    held_out = max(1, len(graphs) // 6)
    train_set, valid, test = graphs[: -2 * held_out], graphs[-2 * held_out : -held_out], graphs[-held_out:]
    frequency = frequencies(train_set)
    print(f"{len(train_set)} graphs to train on, baseline hits@20 {baseline(frequency, valid):.3f}", flush=True)
    model = train(options, train_set, valid, frequency)
    print(f"test hits@20 {evaluate(model, test):.3f}")


if __name__ == "__main__":
    main()
