"""A small convolutional network that tells crosses from rings, with a Dataset of its own."""
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

SEED = 7
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.cuda.manual_seed_all(SEED)
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = False
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


class Shapes(Dataset):
    """Crosses and rings on 12 by 12 pixels."""

    def __init__(self, count, transform=None):
        self.rng = np.random.RandomState(count)
        self.labels = self.rng.randint(0, 2, size=count)
        self.centres = self.rng.randint(3, 9, size=(count, 2))
        self.noise = self.rng.randn(count, 12, 12).astype("float32")
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        if torch.is_tensor(idx):
            idx = idx.tolist()
        rows, columns = np.mgrid[:12, :12] - self.centres[idx][:, None, None]
        if self.labels[idx]:
            image = (np.abs(rows) + np.abs(columns) == 2).astype("float32")
        else:
            image = ((rows * columns == 0) & (np.abs(rows) + np.abs(columns) <= 2)).astype("float32")
        image = torch.from_numpy(image + 0.1 * self.noise[idx]).unsqueeze(0)
        if self.transform:
            image = self.transform(image)
        return {"image": image, "label": int(self.labels[idx])}


class ConvNet(nn.Module):
    def __init__(self, num_classes=2):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, kernel_size=3, padding=1),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d(1),
        )
        self.classifier = nn.Linear(16, num_classes)
        self._init_weights()

    def _init_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                if m.bias is not None:
                    nn.init.constant_(m.bias, 0)
            elif isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, 0, 0.01)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        x = self.features(x)
        x = x.view(x.size(0), -1)
        return self.classifier(x)


def evaluate(model, loader):
    model.eval()
    total, correct = 0, 0
    with torch.inference_mode():
        for batch in loader:
            images, labels = batch["image"].to(device), batch["label"].to(device)
            _, predicted = torch.max(model(images).data, 1)
            total += labels.size(0)
            correct += (predicted == labels).sum().item()
    return correct / total


normalize = lambda image: (image - 0.08) / 0.3
data = Shapes(160, transform=normalize)
train_set, val_set = random_split(data, [128, 32], generator=torch.Generator().manual_seed(42))
print(len(train_set), len(val_set), train_set.indices[:5])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True, num_workers=0, drop_last=True)
val_loader = DataLoader(val_set, batch_size=32)

model = ConvNet().to(device)
print(model)
print("parameters:", sum(p.numel() for p in model.parameters() if p.requires_grad))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(4):
    model.train()
    running_loss = 0.0
    for i, batch in enumerate(train_loader, 0):
        inputs, labels = batch["image"].to(device), batch["label"].to(device)
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print(f"[{epoch + 1}] loss: {running_loss / len(train_loader):.3f}  val acc: {evaluate(model, val_loader):.2f}")
print("Finished Training")
