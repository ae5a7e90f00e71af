"""Functions with derivatives of their own: a Legendre polynomial, a straight-through sign, an exponential."""
import math

import torch
from torch.autograd import Function, gradcheck, gradgradcheck
from torch.autograd.function import once_differentiable


class LegendrePolynomial3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input ** 3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input ** 2 - 1)


class BinarizeSTE(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.sign()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input.abs() > 1] = 0
        return grad_input


class ScaledExp(Function):
    @staticmethod
    def forward(ctx, x, scale):
        result = torch.exp(x * scale)
        ctx.save_for_backward(result, x)
        ctx.scale = scale
        return result

    @staticmethod
    def backward(ctx, grad):
        result, x = ctx.saved_tensors
        return grad * result * ctx.scale, None


dtype = torch.float
device = torch.device("cpu")
x = torch.linspace(-math.pi, math.pi, 200, device=device, dtype=dtype)
y = torch.sin(x)
a = torch.full((), 0.0, device=device, dtype=dtype, requires_grad=True)
b = torch.full((), -1.0, device=device, dtype=dtype, requires_grad=True)
c = torch.full((), 0.0, device=device, dtype=dtype, requires_grad=True)
d = torch.full((), 0.3, device=device, dtype=dtype, requires_grad=True)

learning_rate = 5e-5
for t in range(300):
    P3 = LegendrePolynomial3.apply
    y_pred = a + b * P3(c + d * x)
    loss = (y_pred - y).pow(2).sum()
    if t % 100 == 99:
        print(t, "%.3f" % loss.item())
    loss.backward()
    with torch.no_grad():
        a -= learning_rate * a.grad
        b -= learning_rate * b.grad
        c -= learning_rate * c.grad
        d -= learning_rate * d.grad
        a.grad = None
        b.grad = None
        c.grad = None
        d.grad = None
print(f"Result: y = {a.item():.4f} + {b.item():.4f} * P3({c.item():.4f} + {d.item():.4f} x)")

w = torch.tensor([-1.5, -0.5, 0.25, 2.0], requires_grad=True)
out = BinarizeSTE.apply(w)
print(out)
out.dot(torch.tensor([1.0, 2.0, 3.0, 4.0])).backward()
print(w.grad)
inputs = torch.tensor([0.3, -0.7], dtype=torch.double, requires_grad=True)
print(gradcheck(ScaledExp.apply, (inputs, 2.0), eps=1e-6, atol=1e-4))
print(gradgradcheck(lambda v: ScaledExp.apply(v, 2.0), inputs))
print(ScaledExp.apply(inputs, 2.0))
try:
    BinarizeSTE.apply(w).sum().backward(create_graph=True)
    w.grad.sum().backward()
except RuntimeError as error:
    print("RuntimeError:", str(error)[:60])
