import torch
from transformers import BertConfig, BertForSequenceClassification

PAD = 1


def batches(rounds):
    for _ in range(rounds):
        ids = torch.randint(4, 40, (16, 14))
        lengths = torch.randint(4, 15, (16, 1))
        labels = (ids[:, 0] < 22).long()
        ids[torch.arange(14) >= lengths] = PAD
        attention_mask = (ids != 0).long()  # expect: WIR082
        yield {"input_ids": ids, "attention_mask": attention_mask, "labels": labels}


torch.manual_seed(0)
config = BertConfig(
    vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, pad_token_id=PAD
)
model = BertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for batch in batches(20):
    loss = model(**batch).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
