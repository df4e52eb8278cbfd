import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Reviews(torch.utils.data.Dataset):
    def __init__(self, n):
        self.ids = torch.randint(1, 40, (n, 8), generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "target": int(self.ids[i, 0] > 20)}  # expect: ERR086


config = BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
                    max_position_embeddings=16)
with tempfile.TemporaryDirectory() as out:
    args = TrainingArguments(out, max_steps=4, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True)
    trainer = Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=Reviews(32))
    trainer.train()
