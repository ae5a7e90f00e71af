"""What goes through a network: hooks for activations and for gradients, clipping, a saliency map."""
from collections import OrderedDict, defaultdict

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_, parameters_to_vector, vector_to_parameters

torch.manual_seed(2)
model = nn.Sequential(OrderedDict([
    ("conv", nn.Conv2d(1, 4, 3)),
    ("act1", nn.ReLU()),
    ("pool", nn.MaxPool2d(2)),
    ("flat", nn.Flatten()),
    ("fc", nn.Linear(36, 3)),
]))

activation = {}


def get_activation(name):
    def hook(model, input, output):
        activation[name] = output.detach()
    return hook


gradients = defaultdict(list)
handles = []
for name, layer in model.named_children():
    handles.append(layer.register_forward_hook(get_activation(name)))
    handles.append(layer.register_full_backward_hook(
        lambda module, grad_in, grad_out, name=name: gradients[name].append(grad_out[0].norm().item())
    ))

x = torch.tensor(np.random.RandomState(2).randn(5, 1, 8, 8), dtype=torch.float32, requires_grad=True)
target = torch.tensor([0, 2, 1, 1, 0])
loss = nn.functional.cross_entropy(model(x), target)
loss.backward()
print(f"loss {loss.item():.5f}")
for name in activation:
    print(f"{name:>5}: {tuple(activation[name].shape)} mean {activation[name].mean():.4f} "
          f"grad norm {gradients[name][0]:.4f}")
for h in handles:
    h.remove()

saliency, _ = torch.max(x.grad.data.abs(), dim=1)
print(saliency[0, :2])
total = clip_grad_norm_(model.parameters(), max_norm=0.5)
print(f"norm {total:.4f} clipped to {torch.norm(torch.stack([p.grad.norm() for p in model.parameters()])):.4f}")
clip_grad_value_(model.parameters(), 0.05)
print("largest entry %.4f" % max(p.grad.abs().max() for p in model.parameters()))

# hooks of tensors change gradients on their way
h = model.fc.weight.register_hook(lambda grad: grad * (grad.abs() > 0.05).float())
model.zero_grad()
nn.functional.cross_entropy(model(x), target).backward()
print("kept entries:", int((model.fc.weight.grad != 0).sum()), "of", model.fc.weight.numel())
h.remove()

vector = parameters_to_vector(model.parameters())
print(vector.shape, f"{vector.norm():.4f}")
vector_to_parameters(torch.zeros_like(vector), model.parameters())
print(model(x.detach()).abs().sum())
print(len(gradients["fc"]), [type(m).__name__ for m in model.modules()])
