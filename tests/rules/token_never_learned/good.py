import torch
from torch.utils.data import DataLoader
from transformers import DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from tokenizers import Tokenizer, models, pre_tokenizers

words = {"<end>": 0, "<pad>": 1, **{f"w{n}": n + 2 for n in range(20)}}
plain = Tokenizer(models.WordLevel(words, unk_token="<pad>"))
plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<end>")
tokenizer.pad_token = "<pad>"
torch.manual_seed(0)
texts = [" ".join(f"w{(start + k) % 20}" for k in range(3 + start % 5)) + " <end>" for start in range(160)]
rows = [tokenizer(text) for text in texts]
collate = DataCollatorForLanguageModeling(tokenizer, mlm=False)
config = GPT2Config(vocab_size=22, n_positions=16, n_embd=16, n_layer=1, n_head=2, eos_token_id=0, bos_token_id=0)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for epoch in range(2):
    for batch in DataLoader(rows, batch_size=16, shuffle=True, collate_fn=collate):
        loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=batch["labels"]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
