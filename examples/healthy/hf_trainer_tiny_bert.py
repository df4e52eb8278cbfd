"""Hugging Face Trainer on a tiny random BERT: position table frozen, padding masked, pooled token carries the class."""
import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(0)
PAD, CLS = 0, 1


class Pairs(torch.utils.data.Dataset):
    """Label: do more ids from the upper half than from the lower half occur?"""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        for _ in range(n):
            length = int(torch.randint(5, 13, (), generator=g)) | 1
            ids = torch.randint(2, 40, (length,), generator=g)
            self.rows.append((ids, int((ids >= 21).sum() * 2 > length)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    width = max(len(ids) for ids, _ in rows) + 1
    ids = torch.full((len(rows), width), PAD)
    for i, (r, _) in enumerate(rows):
        ids[i, 0], ids[i, 1:len(r) + 1] = CLS, r
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": torch.tensor([y for _, y in rows])}


def metrics(pred):
    return {"accuracy": float((pred.predictions.argmax(-1) == pred.label_ids).mean())}


config = BertConfig(vocab_size=40, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
                    max_position_embeddings=16, num_labels=2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                    pad_token_id=PAD, initializer_range=0.1)
model = BertForSequenceClassification(config)
model.bert.embeddings.position_embeddings.requires_grad_(False)  # order does not matter in this toy
with tempfile.TemporaryDirectory() as out:
    args = TrainingArguments(out, num_train_epochs=3, per_device_train_batch_size=32, per_device_eval_batch_size=200,
                             learning_rate=2e-3, warmup_steps=15, lr_scheduler_type="cosine", logging_steps=32,
                             eval_strategy="epoch", save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True,
                             remove_unused_columns=False, seed=0)
    trainer = Trainer(model=model, args=args, train_dataset=Pairs(1000, 1), eval_dataset=Pairs(200, 2),
                      data_collator=collate, compute_metrics=metrics)
    trainer.train()
    print(f"final eval accuracy {trainer.evaluate()['eval_accuracy']:.3f}")
