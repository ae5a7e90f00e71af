"""Transfer: a backbone is trained, saved, loaded under a new head, frozen, then thawed at a lower rate."""
import copy
import os
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler

print("PyTorch at least 1:", int(torch.__version__.split(".")[0]) >= 1)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


class Backbone(nn.Module):
    def __init__(self, out):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh())
        self.fc = nn.Linear(16, out)

    def forward(self, x):
        return self.fc(self.body(x))


def task(classes, seed):
    rng = np.random.RandomState(seed)
    x = rng.randn(120, 6).astype(np.float32)
    w = np.random.RandomState(99).randn(6, 4)[:, :classes]
    y = np.argmax(np.sin(x @ w), axis=1)
    return torch.from_numpy(x), torch.from_numpy(y)


def train_model(model, data, criterion, optimizer, scheduler, num_epochs):
    since = time.time()
    best_model_wts = copy.deepcopy(model.state_dict())
    best_acc = 0.0
    x, y = (part.to(device) for part in data)
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            model.train() if phase == "train" else model.eval()
            rows = slice(0, 90) if phase == "train" else slice(90, None)
            with torch.set_grad_enabled(phase == "train"):
                outputs = model(x[rows])
                _, preds = torch.max(outputs, 1)
                loss = criterion(outputs, y[rows])
                if phase == "train":
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    scheduler.step()
            acc = torch.sum(preds == y[rows].data).double() / len(preds)
            if phase == "val" and acc > best_acc:
                best_acc = acc
                best_model_wts = copy.deepcopy(model.state_dict())
        if epoch % 10 == 9:
            print("Epoch {}/{} {} Loss: {:.4f} Acc: {:.4f}".format(epoch, num_epochs - 1, phase, loss, acc))
    assert time.time() - since < 60
    print("Best val Acc: {:4f}".format(best_acc))
    model.load_state_dict(best_model_wts)
    return model


torch.manual_seed(11)
criterion = nn.CrossEntropyLoss()
model = Backbone(4).to(device)
optimizer = optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
model = train_model(model, task(4, 0), criterion, optimizer, lr_scheduler.StepLR(optimizer, 15, 0.5), 30)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "pretrained.pth")
    torch.save(model.state_dict(), path)
    pretrained = torch.load(path, map_location=device, weights_only=True)

model_ft = Backbone(2).to(device)
state = {k: v for k, v in pretrained.items() if not k.startswith("fc.")}
print(model_ft.load_state_dict(state, strict=False))
for name, param in model_ft.named_parameters():
    if not name.startswith("fc"):
        param.requires_grad = False
trainable = [n for n, p in model_ft.named_parameters() if p.requires_grad]
print(trainable)
optimizer = optim.SGD(filter(lambda p: p.requires_grad, model_ft.parameters()), lr=0.5, momentum=0.9)
train_model(model_ft, task(2, 1), criterion, optimizer, lr_scheduler.ExponentialLR(optimizer, 0.95), 10)
torch.testing.assert_close(model_ft.body[0].weight, pretrained["body.0.weight"])

for param in model_ft.body.parameters():
    param.requires_grad_(True)
optimizer = optim.SGD([
    {"params": model_ft.body.parameters(), "lr": 0.01},
    {"params": model_ft.fc.parameters()},
], lr=0.1, momentum=0.9)
train_model(model_ft, task(2, 1), criterion, optimizer, lr_scheduler.MultiStepLR(optimizer, [5, 8], 0.1), 10)
print([group["lr"] for group in optimizer.param_groups], model_ft.fc.bias.grad.norm() < 1)
