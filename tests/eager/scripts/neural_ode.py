"""A neural ODE on a spiral: Runge-Kutta steps, and the adjoint equation as a Function beside backpropagation."""
import argparse

import torch
import torch.nn as nn
import torch.optim as optim

parser = argparse.ArgumentParser("ODE demo")
parser.add_argument("--method", type=str, choices=["rk4", "euler"], default="rk4")
parser.add_argument("--data_size", type=int, default=40)
parser.add_argument("--batch_time", type=int, default=5)
parser.add_argument("--batch_size", type=int, default=10)
parser.add_argument("--niters", type=int, default=15)
parser.add_argument("--test_freq", type=int, default=5)
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()

device = torch.device("cuda:" + str(args.gpu) if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)

true_y0 = torch.tensor([[2., 0.]]).to(device)
t = torch.linspace(0., 5., args.data_size).to(device)
true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]]).to(device)


class Lambda(nn.Module):
    def forward(self, t, y):
        return torch.mm(y ** 3, true_A)


class ODEFunc(nn.Module):
    def __init__(self):
        super(ODEFunc, self).__init__()
        self.net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y ** 3)


def rk4_step(func, t, dt, y):
    k1 = func(t, y)
    k2 = func(t + dt / 2, y + dt * k1 / 2)
    k3 = func(t + dt / 2, y + dt * k2 / 2)
    k4 = func(t + dt, y + dt * k3)
    return y + dt * (k1 + 2 * k2 + 2 * k3 + k4) / 6


def odeint(func, y0, t, method="rk4"):
    solution = [y0]
    for t0, t1 in zip(t[:-1], t[1:]):
        if method == "rk4":
            y0 = rk4_step(func, t0, t1 - t0, y0)
        else:
            y0 = y0 + (t1 - t0) * func(t0, y0)
        solution.append(y0)
    return torch.stack(solution)


class Adjoint(torch.autograd.Function):
    """dL/dy0 and dL/dparams from the adjoint equation, solved backwards with the same steps."""

    @staticmethod
    def forward(ctx, func, y0, t0, t1, steps, *params):
        with torch.no_grad():
            y, dt = y0, (t1 - t0) / steps
            for i in range(steps):
                y = rk4_step(func, t0 + i * dt, dt, y)
        ctx.func, ctx.steps = func, steps
        ctx.save_for_backward(y, t0, t1, *params)
        return y

    @staticmethod
    def backward(ctx, grad_y):
        y, t0, t1, *params = ctx.saved_tensors
        dt = (t1 - t0) / ctx.steps
        a = grad_y
        grads = [torch.zeros_like(p) for p in params]

        def augmented(y, a):
            with torch.enable_grad():
                y = y.detach().requires_grad_(True)
                f = ctx.func(None, y)
                vjp = torch.autograd.grad(f, (y, *params), a, allow_unused=True)
            return f.detach(), [torch.zeros_like(p) if v is None else v for v, p in zip(vjp, (y, *params))]

        for _ in range(ctx.steps):  # midpoint rule, backwards
            f, (ya, *_) = augmented(y, a)
            fm, (yam, *pam) = augmented(y - dt / 2 * f, a + dt / 2 * ya)
            y, a = y - dt * fm, a + dt * yam
            grads = [g + dt * p for g, p in zip(grads, pam)]
        return (None, a, None, None, None, *grads)


with torch.no_grad():
    true_y = odeint(Lambda(), true_y0, t, method="rk4")
func = ODEFunc().to(device)
optimizer = optim.RMSprop(func.parameters(), lr=1e-2)
for itr in range(1, args.niters + 1):
    optimizer.zero_grad()
    s = torch.arange(args.batch_size) * 3
    batch_y0 = true_y[s, 0]
    batch_t = t[:args.batch_time]
    batch_y = torch.stack([true_y[s + i, 0] for i in range(args.batch_time)], dim=0)
    pred_y = odeint(func, batch_y0, batch_t, args.method).to(device)
    loss = torch.mean(torch.abs(pred_y - batch_y))
    loss.backward()
    optimizer.step()
    if itr % args.test_freq == 0:
        with torch.no_grad():
            pred_y = odeint(func, true_y0, t)
            loss = torch.mean(torch.abs(pred_y[:, 0] - true_y[:, 0]))
            print("Iter {:04d} | Total Loss {:.5f}".format(itr, loss.item()))

func.double()
y0 = torch.tensor([[1.0, 0.5]], dtype=torch.float64, requires_grad=True)
t0, t1 = torch.tensor(0.0, dtype=torch.float64), torch.tensor(0.5, dtype=torch.float64)
func.zero_grad()
(Adjoint.apply(func, y0, t0, t1, 20, *func.parameters()) ** 2).sum().backward()
by_adjoint = [y0.grad, *(p.grad for p in func.parameters())]
y0.grad = None
func.zero_grad()
(odeint(func, y0, torch.linspace(0, 0.5, 21, dtype=torch.float64))[-1] ** 2).sum().backward()
for one, other in zip(by_adjoint, [y0.grad, *(p.grad for p in func.parameters())]):
    torch.testing.assert_close(one, other, rtol=2e-2, atol=1e-3)
print("dL/dy0", y0.grad)
