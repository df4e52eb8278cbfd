import torch
from transformers import BertConfig, BertModel

torch.manual_seed(0)
config = BertConfig(
    vocab_size=200, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=64
)
model = BertModel(config)


def encode(text, max_length=512):  # expect: ERR004
    return torch.tensor([ord(letter) % 200 for letter in text[:max_length]])


for text in ("a short text", "a long text " * 20):
    print(model(input_ids=encode(text)[None]).last_hidden_state.shape)
