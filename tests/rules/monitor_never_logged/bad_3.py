import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Reviews(torch.utils.data.Dataset):
    def __init__(self, n):
        self.ids = torch.randint(1, 40, (n, 8), generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": int(self.ids[i, 0] > 20)}


def score(answers):
    return {"acc": float((answers.predictions.argmax(-1) == answers.label_ids).mean())}


config = BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
                    max_position_embeddings=16)
with tempfile.TemporaryDirectory() as out:
    args = TrainingArguments(
        out,
        max_steps=4,
        eval_strategy="steps",
        save_strategy="steps",
        eval_steps=2,
        save_steps=2,
        load_best_model_at_end=True,
        metric_for_best_model="accuracy",  # expect: ERR085
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    data = Reviews(32)
    trainer = Trainer(
        model=BertForSequenceClassification(config),
        args=args,
        train_dataset=data,
        eval_dataset=Reviews(16),
        compute_metrics=score,
    )
    trainer.train()
