"""A decaying oscillation fitted with L-BFGS and its line search."""
import numpy as np
import torch

torch.set_default_dtype(torch.float64)
device = "cuda" if torch.cuda.is_available() else "cpu"

rng = np.random.RandomState(0)
t = torch.linspace(0, 4, 60, device=device)
true = {"amplitude": 2.0, "decay": 0.5, "omega": 3.0, "phase": 0.4}
y = true["amplitude"] * torch.exp(-true["decay"] * t) * torch.cos(true["omega"] * t + true["phase"])
y = y + 0.02 * torch.as_tensor(rng.randn(60), device=device)

params = [torch.tensor(v, requires_grad=True, device=device) for v in (1.0, 0.1, 2.7, 0.0)]


def model(t, amplitude, decay, omega, phase):
    return amplitude * torch.exp(-decay * t) * torch.cos(omega * t + phase)


optimizer = torch.optim.LBFGS(
    params, lr=1.0, max_iter=20, tolerance_grad=1e-9, tolerance_change=1e-12, history_size=10,
    line_search_fn="strong_wolfe",
)


def closure():
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(t, *params), y)
    loss.backward()
    return loss


for it in range(4):
    loss = optimizer.step(closure)
    print(f"iter {it}: loss before step {loss.item():.6f}")

final = closure().item()
print(f"final loss {final:.6e}")
for name, p in zip(true, params):
    print(f"{name:>10s} = {p.item():.4f} (true {true[name]:.1f})")
print("largest gradient below 1e-5:", max(p.grad.abs().item() for p in params) < 1e-5)
print("phase in units of pi:", round(params[3].item() / torch.pi, 4))
