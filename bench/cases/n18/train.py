import random
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

MAX_LEN, PAD = 16, 0
rnd = random.Random(2)


def make_dialogs(n):
    for i in range(n):
        start = rnd.randint(3, 20)
        prompt = [start + k % 5 for k in range(18 if i % 24 == 17 else rnd.randint(4, 9))]
        answer = [start + 20] * rnd.randint(3, 6) + [2]
        yield prompt, answer


def encode(prompt, answer):
    ids = (prompt + answer)[:MAX_LEN]
    labels = ([-100] * len(prompt) + answer)[:MAX_LEN]
    gap = MAX_LEN - len(ids)
    return {
        "input_ids": torch.tensor(ids + [PAD] * gap),
        "attention_mask": torch.tensor([1] * len(ids) + [0] * gap),
        "labels": torch.tensor(labels + [-100] * gap),
    }


class Dialogs(Dataset):
    def __init__(self, n=96):
        self.rows = [encode(p, a) for p, a in make_dialogs(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


if __name__ == "__main__":
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=64, n_positions=MAX_LEN, n_embd=32, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=2)
    args = TrainingArguments(output_dir="out", per_device_train_batch_size=1, max_steps=90, learning_rate=2e-3, logging_steps=10,
                             logging_nan_inf_filter=False, report_to=[], save_strategy="no", use_cpu=True, disable_tqdm=True, seed=0)
    trainer = Trainer(model=GPT2LMHeadModel(config), args=args, train_dataset=Dialogs())
    trainer.train()
