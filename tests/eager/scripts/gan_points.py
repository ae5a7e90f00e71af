"""A generative adversarial network for points in the plane, alternating two Adams."""
import argparse

import numpy as np
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--n_epochs", type=int, default=30, help="number of epochs of training")
parser.add_argument("--batch_size", type=int, default=32, help="size of the batches")
parser.add_argument("--lr", type=float, default=0.002, help="adam: learning rate")
parser.add_argument("--b1", type=float, default=0.5, help="adam: decay of first order momentum of gradient")
parser.add_argument("--b2", type=float, default=0.999, help="adam: decay of first order momentum of gradient")
parser.add_argument("--latent_dim", type=int, default=4, help="dimensionality of the latent space")
opt = parser.parse_args()
print(opt)

cuda = True if torch.cuda.is_available() else False
torch.manual_seed(3)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *block(opt.latent_dim, 16, normalize=False),
            *block(16, 16),
            nn.Linear(16, 2),
            nn.Tanh()
        )

    def forward(self, z):
        return self.model(z)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.model = nn.Sequential(
            nn.Linear(2, 16),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(16, 1),
            nn.Sigmoid(),
        )

    def forward(self, img):
        return self.model(img)


# Loss function
adversarial_loss = torch.nn.BCELoss()

# Initialize generator and discriminator
generator = Generator()
discriminator = Discriminator()

if cuda:
    generator.cuda()
    discriminator.cuda()
    adversarial_loss.cuda()

# Optimizers
optimizer_G = torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))

Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor

np.random.seed(3)
for epoch in range(opt.n_epochs):
    angle = np.random.uniform(0, 2 * np.pi, opt.batch_size)
    imgs = 0.7 * np.stack([np.cos(angle), np.sin(angle)], 1)

    # Adversarial ground truths
    valid = Tensor(imgs.shape[0], 1).fill_(1.0)
    fake = Tensor(imgs.shape[0], 1).fill_(0.0)

    # Configure input
    real_imgs = torch.from_numpy(imgs).type(Tensor)

    #  Train Generator
    optimizer_G.zero_grad()
    z = Tensor(np.random.normal(0, 1, (imgs.shape[0], opt.latent_dim)))
    gen_imgs = generator(z)
    g_loss = adversarial_loss(discriminator(gen_imgs), valid)
    g_loss.backward()
    optimizer_G.step()

    #  Train Discriminator
    optimizer_D.zero_grad()
    real_loss = adversarial_loss(discriminator(real_imgs), valid)
    fake_loss = adversarial_loss(discriminator(gen_imgs.detach()), fake)
    d_loss = (real_loss + fake_loss) / 2
    d_loss.backward()
    optimizer_D.step()

    if epoch % 5 == 0:
        print("[Epoch %d/%d] [D loss: %.4f] [G loss: %.4f]" % (epoch, opt.n_epochs, d_loss.item(), g_loss.item()))

print(gen_imgs.data[:3])
print(z.type(), z.is_cuda, gen_imgs.type() == "torch.FloatTensor")
