"""Model-agnostic meta-learning on sines: gradients through gradient steps, by hand and with torch.func."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad

torch.manual_seed(0)
rng = np.random.RandomState(0)


def sample_task(K=10):
    amplitude, phase = rng.uniform(0.1, 5.0), rng.uniform(0, np.pi)
    x = torch.Tensor(rng.uniform(-5, 5, (2 * K, 1)))
    y = amplitude * torch.sin(x + phase)
    return x[:K], y[:K], x[K:], y[K:]


class MAMLModel(nn.Module):
    def __init__(self):
        super(MAMLModel, self).__init__()
        self.model = nn.Sequential(nn.Linear(1, 20), nn.ReLU(), nn.Linear(20, 20), nn.ReLU(), nn.Linear(20, 1))

    def forward(self, x):
        return self.model(x)

    def parameterised(self, x, weights):
        x = F.relu(F.linear(x, weights[0], weights[1]))
        x = F.relu(F.linear(x, weights[2], weights[3]))
        return F.linear(x, weights[4], weights[5])


class MAML:
    def __init__(self, model, inner_lr, meta_lr, inner_steps=1, tasks_per_meta_batch=4):
        self.model = model
        self.weights = list(model.parameters())  # the maml weights we will be meta-optimising
        self.meta_optimiser = torch.optim.Adam(self.weights, meta_lr)
        self.criterion = nn.MSELoss()
        self.inner_lr, self.inner_steps = inner_lr, inner_steps
        self.tasks_per_meta_batch = tasks_per_meta_batch

    def inner_loop(self):
        temp_weights = [w.clone() for w in self.weights]
        x, y, qx, qy = sample_task()
        for step in range(self.inner_steps):
            loss = self.criterion(self.model.parameterised(x, temp_weights), y)
            gradients = torch.autograd.grad(loss, temp_weights, create_graph=True)
            temp_weights = [w - self.inner_lr * g for w, g in zip(temp_weights, gradients)]
        return self.criterion(self.model.parameterised(qx, temp_weights), qy)

    def main_loop(self, num_iterations):
        epoch_loss = 0
        for iteration in range(1, num_iterations + 1):
            meta_loss = 0
            for i in range(self.tasks_per_meta_batch):
                meta_loss += self.inner_loop()
            meta_grads = torch.autograd.grad(meta_loss, self.weights)
            for w, g in zip(self.weights, meta_grads):
                w.grad = g
            self.meta_optimiser.step()
            epoch_loss += meta_loss.item() / self.tasks_per_meta_batch
            if iteration % 5 == 0:
                print("{}/{}. loss: {:.4f}".format(iteration, num_iterations, epoch_loss / 5))
                epoch_loss = 0


maml = MAML(MAMLModel(), inner_lr=0.01, meta_lr=0.005)
maml.main_loop(20)

x, y, qx, qy = sample_task()
params = {name: p.detach() for name, p in maml.model.named_parameters()}


def adapted_loss(params):
    inner = grad(lambda p: F.mse_loss(functional_call(maml.model, p, (x,)), y))(params)
    fast = {name: p - 0.01 * inner[name] for name, p in params.items()}
    return F.mse_loss(functional_call(maml.model, fast, (qx,)), qy)


meta = grad(adapted_loss)(params)
for name in meta:
    print(f"{name}: {meta[name].norm():.4f}")
