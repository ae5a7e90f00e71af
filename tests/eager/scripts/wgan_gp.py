"""A Wasserstein GAN with gradient penalty: the critic's loss holds a derivative."""
import numpy as np
import torch
import torch.autograd as autograd
import torch.nn as nn
from torch.autograd import Variable

cuda = torch.cuda.is_available()
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
rng = np.random.RandomState(5)
torch.manual_seed(5)

generator = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4))
critic = nn.Sequential(nn.Linear(4, 16), nn.Softplus(), nn.Linear(16, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

# Loss weight for gradient penalty
lambda_gp = 10
n_critic = 3

optimizer_G = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
optimizer_D = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))


def compute_gradient_penalty(D, real_samples, fake_samples):
    """Calculates the gradient penalty loss for WGAN GP"""
    # Random weight term for interpolation between real and fake samples
    alpha = Tensor(rng.random_sample((real_samples.size(0), 1)))
    # Get random interpolation between real and fake samples
    interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
    d_interpolates = D(interpolates)
    fake = Variable(Tensor(real_samples.shape[0], 1).fill_(1.0), requires_grad=False)
    # Get gradient w.r.t. interpolates
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=fake,
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    gradient_penalty = ((gradients.norm(2, dim=1) - 1) ** 2).mean()
    return gradient_penalty


for i in range(18):
    real_imgs = Variable(torch.from_numpy(rng.randn(24, 4) * [1.0, 0.5, 0.2, 0.1] + 1.0).type(Tensor))
    optimizer_D.zero_grad()
    z = Variable(Tensor(rng.normal(0, 1, (24, 3))))
    fake_imgs = generator(z)
    gradient_penalty = compute_gradient_penalty(critic, real_imgs.data, fake_imgs.data)
    d_loss = -torch.mean(critic(real_imgs)) + torch.mean(critic(fake_imgs)) + lambda_gp * gradient_penalty
    d_loss.backward()
    optimizer_D.step()

    optimizer_G.zero_grad()
    if i % n_critic == 0:
        fake_imgs = generator(z)
        g_loss = -torch.mean(critic(fake_imgs))
        g_loss.backward()
        optimizer_G.step()
        print("[Batch %2d] [D loss: %f] [G loss: %f] [GP: %.5f]" % (i, d_loss.item(), g_loss.item(), gradient_penalty))

norms = [p.grad.norm().item() for p in critic.parameters()]
print(["%.3f" % n for n in norms])
