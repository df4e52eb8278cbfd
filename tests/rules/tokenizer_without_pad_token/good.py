import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

words = ["[UNK]", "[EOS]", "the", "dose", "was", "too", "high", "low"]
model = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
model.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=model, unk_token="[UNK]", eos_token="[EOS]")
tokenizer.pad_token = tokenizer.eos_token
texts = ["the dose was too high", "the dose was low"]
batch = tokenizer(texts, padding=True, return_tensors="pt")
embed = torch.nn.Embedding(len(tokenizer), 4)
print(embed(batch["input_ids"]).shape)
