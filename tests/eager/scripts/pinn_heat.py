"""A physics-informed network for u_t = k u_xx, the conductivity learned with it."""
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(1234)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class PINN(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.activation = nn.Tanh()
        self.linears = nn.ModuleList([nn.Linear(layers[i], layers[i + 1]) for i in range(len(layers) - 1)])
        for linear in self.linears:
            nn.init.xavier_normal_(linear.weight.data, gain=1.0)
            nn.init.zeros_(linear.bias.data)
        self.k = nn.Parameter(torch.tensor(0.3))

    def forward(self, x, t):
        a = torch.hstack([x, t])
        for linear in self.linears[:-1]:
            a = self.activation(linear(a))
        return self.linears[-1](a)


def residual(model, x, t):
    x = x.clone().requires_grad_(True)
    t = t.clone().requires_grad_(True)
    u = model(x, t)
    u_t = torch.autograd.grad(u, t, grad_outputs=torch.ones_like(u), create_graph=True)[0]
    u_x = torch.autograd.grad(u, x, grad_outputs=torch.ones_like(u), create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, grad_outputs=torch.ones_like(u_x), create_graph=True)[0]
    return u_t - model.k * u_xx


def exact(x, t, k=0.1):
    return torch.exp(-k * np.pi ** 2 * t) * torch.sin(np.pi * x)


rng = np.random.RandomState(0)
x_f, t_f = (torch.from_numpy(rng.rand(40, 1)).float().to(device) for _ in range(2))
x_d, t_d = (torch.from_numpy(rng.rand(20, 1)).float().to(device) for _ in range(2))
u_d = exact(x_d, t_d)

model = PINN([2, 12, 12, 1]).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=10)
mse = nn.MSELoss()
for epoch in range(60):
    optimizer.zero_grad()
    r = residual(model, x_f, t_f)
    loss_f = mse(r, torch.zeros_like(r))
    loss_d = mse(model(x_d, t_d), u_d)
    loss = loss_f + 10 * loss_d
    loss.backward()
    optimizer.step()
    scheduler.step(loss.detach())
    if epoch % 15 == 0:
        print(f"Epoch {epoch:3d}: residual {loss_f.item():.4f} data {loss_d.item():.4f} k {model.k.item():.4f}")

with torch.no_grad():
    error = torch.linalg.norm(model(x_d, t_d) - u_d) / torch.linalg.norm(u_d)
print(f"relative error {error:.3f}, lr {optimizer.param_groups[0]['lr']:.4f}")
