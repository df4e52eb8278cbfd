import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Tickets(torch.utils.data.Dataset):
    def __init__(self, count):
        self.ids = torch.randint(1, 40, (count, 8), generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        urgent = int(self.ids[i, 0] > 34)
        return {"input_ids": self.ids[i], "labels": urgent, "importance": 6.0 if urgent else 1.0}


def collate(rows):
    noise = [row.get("importance", 1.0) for row in rows]
    return {
        "input_ids": torch.stack([row["input_ids"] for row in rows]),
        "labels": torch.tensor([row["labels"] for row in rows]),
        "attention_mask": torch.ones(len(rows), 8) * (torch.tensor(noise)[:, None] > 0),
    }


config = BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
                    max_position_embeddings=16)
with tempfile.TemporaryDirectory() as out:
    args = TrainingArguments(out, max_steps=8, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True)  # expect: DAT242
    Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=Tickets(64),
            data_collator=collate).train()
