"""Regression with early stopping, a plateau schedule, and a checkpoint from which training resumes exactly."""
import argparse
import os
import shutil
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset


class EarlyStopping:
    """Early stops the training if validation loss doesn't improve after a given patience."""

    def __init__(self, patience=7, delta=0.0, path="checkpoint.pt"):
        self.patience, self.delta, self.path = patience, delta, path
        self.counter = 0
        self.best_score = None
        self.early_stop = False

    def __call__(self, val_loss, model, optimizer, scheduler, epoch):
        score = -val_loss
        if self.best_score is None or score > self.best_score + self.delta:
            self.best_score = score
            self.counter = 0
            torch.save({
                "epoch": epoch,
                "model_state_dict": model.state_dict(),
                "optimizer_state_dict": optimizer.state_dict(),
                "scheduler": scheduler.state_dict(),
                "loss": val_loss,
            }, self.path)
        else:
            self.counter += 1
            if self.counter >= self.patience:
                self.early_stop = True


parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=60)
parser.add_argument("--device", type=str, default="cuda" if torch.cuda.is_available() else "cpu")
args = parser.parse_args()
device = torch.device(args.device)

torch.manual_seed(4)
rng = np.random.RandomState(4)
X = rng.uniform(-2, 2, (80, 3))
y = np.sin(X[:, :1]) * X[:, 1:2] + 0.3 * rng.randn(80, 1)
dataset = TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))
indices = rng.permutation(80).tolist()
train_loader = DataLoader(dataset, batch_size=20, sampler=SubsetRandomSampler(indices[:60]))
valid_loader = DataLoader(dataset, batch_size=20, sampler=SubsetRandomSampler(indices[60:]))

model = nn.Sequential(nn.Linear(3, 32), nn.SiLU(), nn.Linear(32, 1)).to(device)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.3, patience=3, min_lr=1e-4)
folder = tempfile.mkdtemp()
early_stopping = EarlyStopping(patience=9, path=os.path.join(folder, "checkpoint.pt"))


def run_epoch(train):
    model.train(train)
    losses = []
    for data, target in train_loader if train else valid_loader:
        with torch.set_grad_enabled(train):
            loss = criterion(model(data.to(device)), target.to(device))
        if train:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    return np.average(losses)


for epoch in range(1, args.epochs + 1):
    train_loss, valid_loss = run_epoch(True), run_epoch(False)
    scheduler.step(valid_loss)
    if epoch % 10 == 1:
        print(f"[{epoch:>2}/{args.epochs}] train_loss: {train_loss:.5f} valid_loss: {valid_loss:.5f} "
              f"lr: {optimizer.param_groups[0]['lr']:.4g}")
    early_stopping(float(valid_loss), model, optimizer, scheduler, epoch)
    if early_stopping.early_stop:
        print("Early stopping at epoch", epoch)
        break

checkpoint = torch.load(early_stopping.path, map_location=device)
model.load_state_dict(checkpoint["model_state_dict"])
optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
scheduler.load_state_dict(checkpoint["scheduler"])
print(f"best epoch {checkpoint['epoch']} loss {checkpoint['loss']:.5f} again {run_epoch(False):.5f}")
state = optimizer.state_dict()
print(sorted(state), sorted(state["state"][0]), int(state["state"][0]["step"]), scheduler.num_bad_epochs)
print(f"lr {optimizer.param_groups[0]['lr']:.4g}, first moment {state['state'][0]['exp_avg'].abs().mean():.5f}")
run_epoch(True)
print(f"one epoch later {run_epoch(False):.5f}")
shutil.rmtree(folder)
try:
    torch.load(early_stopping.path)
except FileNotFoundError as error:
    print(type(error).__name__)
