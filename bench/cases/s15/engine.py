import torch


class Engine:
    def __init__(self, model, optimizer, criterion):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion

    def evaluate(self, loader):
        self.model.eval()
        loss, hits, n = 0.0, 0, 0
        with torch.no_grad():
            for x, y in loader:
                out = self.model(x)
                loss += self.criterion(out, y).item() * len(y)
                hits += (out.argmax(1) == y).sum().item()
                n += len(y)
        return loss / n, hits / n

    def train_one_epoch(self, loader):
        total = 0.0
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)

    def run(self, train_loader, val_loader, epochs):
        loss, acc = self.evaluate(val_loader)
        print(f"before training: val loss {loss:.4f} acc {acc:.3f}")
        for epoch in range(epochs):
            tr = self.train_one_epoch(train_loader)
            loss, acc = self.evaluate(val_loader)
            print(f"epoch {epoch}: train loss {tr:.4f} val loss {loss:.4f} acc {acc:.3f}")
