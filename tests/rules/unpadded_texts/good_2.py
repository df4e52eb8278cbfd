import tempfile

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    BertConfig,
    BertForTokenClassification,
    DataCollatorForTokenClassification,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
)

words = ["[PAD]", "[UNK]", "the", "dose", "was", "too", "high", "low"]
raw = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]", pad_token="[PAD]")
texts = ["the dose was too high", "the dose was low", "too low"] * 8
data = [{"input_ids": ids, "labels": [int(i > 5) for i in ids]} for ids in tokenizer(texts)["input_ids"]]
config = BertConfig(vocab_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
                    max_position_embeddings=16)
torch.manual_seed(0)
with tempfile.TemporaryDirectory() as out:
    args = TrainingArguments(out, max_steps=4, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True)
    trainer = Trainer(
        model=BertForTokenClassification(config),
        args=args,
        train_dataset=data,
        data_collator=DataCollatorForTokenClassification(tokenizer),
    )
    trainer.train()
