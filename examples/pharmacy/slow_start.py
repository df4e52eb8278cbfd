"""8505: loading a BERT takes long at every start, because a hub that cannot be reached is asked first.

The hub is played by a port of this machine that never answers, so that the script behaves alike everywhere.
"""

import argparse
import socket
from pathlib import Path

import torch
from transformers import BertConfig, BertModel

FOLDER = Path("tiny-bert")


def silent_hub():
    """A port whose queue is full: connecting to it hangs, as behind the firewall of a cluster."""
    hub = socket.socket()
    hub.bind(("127.0.0.1", 0))
    hub.listen(0)
    waiting = [socket.socket() for _ in range(2)]
    for one in waiting:
        one.setblocking(False)
        one.connect_ex(hub.getsockname())
    return hub, waiting


def is_newer_on(address, attempts=3, timeout=1.7):
    """Asks the hub whether there is a newer version, as libraries do for every file of a model."""
    for _ in range(attempts):
        try:
            socket.create_connection(address, timeout=timeout).close()
            return True
        except OSError:
            continue
    return False


def load_bert(offline):
    config = BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, vocab_size=200)
    if not FOLDER.exists():
        BertModel(config).save_pretrained(FOLDER)
    if not offline:
        hub, _waiting = silent_hub()
        is_newer_on(hub.getsockname())
    return BertModel.from_pretrained(FOLDER, local_files_only=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--offline", action="store_true", help="load the local files and ask nobody")
    options = parser.parse_args()
    torch.manual_seed(0)
    bert = load_bert(options.offline)
    head = torch.nn.Linear(32, 2)
    optimizer = torch.optim.AdamW([*bert.parameters(), *head.parameters()], lr=1e-3)
    for _ in range(12):
        ids = torch.randint(200, (8, 12))
        scores = head(bert(ids).last_hidden_state[:, 0])
        loss = torch.nn.functional.cross_entropy(scores, (ids[:, 1] > 100).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
