import torch
from transformers import BartConfig, BartForConditionalGeneration

torch.manual_seed(0)
codes = torch.randint(4, 24, (160, 8))
answers = torch.cat([codes.flip(1), torch.full((160, 1), 2)], dim=1)
config = BartConfig(
    vocab_size=24, d_model=24, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
    decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=16,
)
model = BartForConditionalGeneration(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(3):
    for rows in torch.randperm(160).split(16):
        result = model(
            input_ids=codes[rows],
            decoder_input_ids=answers[rows],  # expect: LOS042
            labels=answers[rows],
        )
        optimizer.zero_grad()
        result.loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {result.loss.item():.3f}")
