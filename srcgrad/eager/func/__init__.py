"""``torch.func``: transforms of functions that compose, ``grad`` of ``vmap`` of ``jvp`` and any other way."""

from srcgrad.eager.absent import absent_from as _absent_from
from srcgrad.eager.func.batching import vmap
from srcgrad.eager.func.forward import hessian, jacfwd, jvp, linearize
from srcgrad.eager.func.reverse import grad, grad_and_value, jacrev, vjp
from srcgrad.eager.func.stateless import functional_call, functionalize, stack_module_state

__getattr__ = _absent_from("torch.func")
__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
