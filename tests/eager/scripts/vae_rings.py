"""A variational autoencoder on points around a ring: reparameterisation, KL term, sampling."""
import numpy as np
import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F

torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
kwargs = {"num_workers": 1, "pin_memory": True} if torch.cuda.is_available() else {}

rng = np.random.RandomState(1)
angles = rng.rand(256) * 2 * np.pi
bumps = np.exp(-((np.linspace(0, 2 * np.pi, 16, endpoint=False) - angles[:, None] + np.pi) % (2 * np.pi) - np.pi) ** 2)
images = torch.FloatTensor(bumps)
train_loader = torch.utils.data.DataLoader(images, batch_size=64, shuffle=True, **kwargs)


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(16, 24)
        self.fc21 = nn.Linear(24, 2)
        self.fc22 = nn.Linear(24, 2)
        self.fc3 = nn.Linear(2, 24)
        self.fc4 = nn.Linear(24, 16)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 16))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


model = VAE().to(device)
optimizer = optim.Adam(model.parameters(), lr=1e-2)


# Reconstruction + KL divergence losses summed over all elements and batch
def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 16), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


def train(epoch):
    model.train()
    train_loss = 0
    for batch_idx, data in enumerate(train_loader):
        data = data.to(device)
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        loss = loss_function(recon_batch, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    print("====> Epoch: {} Average loss: {:.4f}".format(epoch, train_loss / len(train_loader.dataset)))


if __name__ == "__main__":
    for epoch in range(1, 7):
        train(epoch)
        with torch.no_grad():
            sample = torch.randn(8, 2).to(device)
            sample = model.decode(sample).cpu()
    model.eval()
    with torch.no_grad():
        print(sample[0, :6])
        mu, logvar = model.encode(images[:4])
        print(mu)
        print("mean of the variances: %.4f" % logvar.exp().mean())
