"""A small BERT with evaluation every epoch and early stopping: nothing is wrong here."""
import tempfile

import torch
from transformers import (BertConfig, BertForSequenceClassification, EarlyStoppingCallback, Trainer, TrainingArguments,
                          set_seed)

set_seed(0)


class Rows(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(1, 40, (n, 10), generator=g)
        self.labels = ((self.ids >= 20).float().mean(1) > 0.5).long()

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.labels[i]}


def metrics(prediction):
    return {"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}


config = BertConfig(vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
                    max_position_embeddings=16, num_labels=2, initializer_range=0.1)
with tempfile.TemporaryDirectory() as out:
    args = TrainingArguments(out, num_train_epochs=4, per_device_train_batch_size=32, per_device_eval_batch_size=100,
                             learning_rate=2e-3, logging_strategy="epoch", eval_strategy="epoch", save_strategy="epoch",
                             load_best_model_at_end=True, metric_for_best_model="eval_loss", report_to=[],
                             disable_tqdm=True, use_cpu=True, seed=0)
    trainer = Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=Rows(400, 1),
                      eval_dataset=Rows(100, 2), compute_metrics=metrics,
                      callbacks=[EarlyStoppingCallback(early_stopping_patience=2)])
    trainer.train()
