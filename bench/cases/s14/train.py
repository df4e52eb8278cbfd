import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed
from transformers.utils import logging

logging.set_verbosity_error()
set_seed(0)


class Tickets(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, 4, (n,), generator=g)
        self.ids = torch.randint(10, 60, (n, 12), generator=g)
        for k in (2, 5, 8):
            self.ids[:, k] = 10 + self.labels * 3 + torch.randint(0, 3, (n,), generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": torch.ones(12, dtype=torch.long), "labels": self.labels[i]}


config = BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
                    max_position_embeddings=16, num_labels=4)
model = BertForSequenceClassification(config)
for name, param in model.named_parameters():
    if not name.startswith("bert.encoder.layer.1"):
        param.requires_grad = False

args = TrainingArguments(output_dir="out", num_train_epochs=6, per_device_train_batch_size=32, learning_rate=3e-3, save_strategy="no",
                         logging_strategy="no", eval_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)


def metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


trainer = Trainer(model=model, args=args, train_dataset=Tickets(800, 1), eval_dataset=Tickets(200, 2), compute_metrics=metrics)
trainer.train()
result = trainer.evaluate()
print(f"eval loss {result['eval_loss']:.4f} accuracy {result['eval_accuracy']:.3f}")
