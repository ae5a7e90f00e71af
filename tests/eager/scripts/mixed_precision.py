"""The boilerplate of mixed precision, one-cycle learning rates, accumulation and compile, on any device."""
import contextlib
import warnings

import numpy as np
import torch
import torch.nn as nn
from torch.optim.lr_scheduler import OneCycleLR

warnings.filterwarnings("ignore")
device = "cuda" if torch.cuda.is_available() else "cpu"
use_amp = device == "cuda"
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
torch.backends.cudnn.benchmark = True
torch.set_float32_matmul_precision("high")
torch.set_num_threads(1)
torch.manual_seed(21)
if torch.cuda.is_available():
    torch.cuda.manual_seed(21)

num_epochs, batch_size, accumulation_steps = 3, 16, 2
rng = np.random.RandomState(21)
inputs = torch.tensor(rng.randn(96, 10), dtype=torch.float32)
products = inputs.numpy()[:, :1] * inputs.numpy()[:, 1:2]
targets = torch.tensor(np.tanh(rng.randn(96, 1) * 0.1 + products), dtype=torch.float32)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


net = nn.Sequential(nn.Linear(10, 16), Block(16), Block(16), nn.Linear(16, 1)).to(device)
opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01)
steps_per_epoch = len(inputs) // batch_size // accumulation_steps
sched = OneCycleLR(opt, max_lr=0.02, epochs=num_epochs, steps_per_epoch=steps_per_epoch, pct_start=0.3)
if hasattr(torch, "compile"):
    net = torch.compile(net, backend="inductor" if device == "cuda" else "eager")
scaler = torch.amp.GradScaler(device, enabled=use_amp)
autocast = torch.autocast(device_type=device, dtype=torch.float16) if use_amp else contextlib.nullcontext()
loss_fn = nn.SmoothL1Loss()

for epoch in range(num_epochs):
    for step in range(len(inputs) // batch_size):
        rows = slice(step * batch_size, (step + 1) * batch_size)
        x = inputs[rows].to(device, non_blocking=True)
        y = targets[rows].to(device, non_blocking=True)
        with autocast:
            loss = loss_fn(net(x), y) / accumulation_steps
        scaler.scale(loss).backward()
        if (step + 1) % accumulation_steps == 0:
            scaler.unscale_(opt)
            norm = torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.1)
            scaler.step(opt)
            scaler.update()
            opt.zero_grad(set_to_none=True)
            sched.step() if sched.last_epoch < sched.total_steps - 1 else None
    print(f"epoch {epoch}: loss {loss.item():.5f} norm {norm:.4f} lr {sched.get_last_lr()[0]:.6f} "
          f"beta {opt.param_groups[0]['betas'][0]:.4f}")

with torch.autocast(device_type="cuda", enabled=use_amp):
    print(net(inputs[:2].to(device)).float().detach().cpu())
print(scaler.get_scale(), scaler.is_enabled())
torch.cuda.empty_cache()
if device == "cuda":
    torch.cuda.synchronize()
print(f"{torch.cuda.device_count()} GPUs, dtype {inputs.dtype}, {torch.get_default_dtype()}")
