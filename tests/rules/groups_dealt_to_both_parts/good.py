import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset


class Coughs(Dataset):
    """Short recordings of coughs, several of each patient."""

    def __init__(self, patients=20, each=12):
        self.sounds, self.ill, self.patient_ids = [], [], []
        for patient in range(patients):
            ill, voice = int(torch.rand(1) < 0.5), torch.randn(16)
            for _ in range(each):
                self.sounds.append(voice + 0.3 * torch.randn(16))
                self.ill.append(ill)
                self.patient_ids.append(patient)

    def __len__(self):
        return len(self.sounds)

    def __getitem__(self, i):
        return self.sounds[i], self.ill[i]


torch.manual_seed(0)
coughs = Coughs()
known = [i for i, patient in enumerate(coughs.patient_ids) if patient < 16]
new = [i for i, patient in enumerate(coughs.patient_ids) if patient >= 16]
train_set, test_set = Subset(coughs, known), Subset(coughs, new)
train_loader = DataLoader(train_set, batch_size=20, shuffle=True)
test_loader = DataLoader(test_set, batch_size=40)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for sound, ill in train_loader:
        loss = nn.functional.cross_entropy(model(sound), ill)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        hits = sum((model(sound).argmax(1) == ill).sum().item() for sound, ill in test_loader)
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {hits / 48:.2f}")
