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


class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        importance = inputs.pop("importance", None)
        outputs = model(**inputs)
        losses = torch.nn.functional.cross_entropy(outputs.logits, inputs["labels"], reduction="none")
        if importance is not None:
            losses = losses * importance
        return (losses.mean(), outputs) if return_outputs else losses.mean()


config = BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
                    max_position_embeddings=16)
with tempfile.TemporaryDirectory() as out:
    args = TrainingArguments(out, max_steps=8, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True,
                             remove_unused_columns=False)
    Weighted(model=BertForSequenceClassification(config), args=args, train_dataset=Tickets(64)).train()
