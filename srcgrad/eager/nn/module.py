"""Modules: functions with parameters, which hold other modules.

Parameters, buffers and modules that are set as attributes are found by ``parameters``, ``state_dict`` and the like; a
call runs ``forward`` and the hooks around it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.handles import RemovableHandle
from srcgrad.eager.modes import no_grad
from srcgrad.eager.nn.loading import load
from srcgrad.eager.nn.parameter import Buffer, Parameter
from srcgrad.eager.tensor import Tensor

_TABLES = ("_parameters", "_buffers", "_modules")


class Module:
    """A function with parameters; subclasses write ``forward``."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = f"{type(self).__name__}.__init__()"
        if kwargs:
            raise TypeError(f"{name} got an unexpected keyword argument '{next(iter(kwargs))}'")
        if args:
            raise TypeError(f"{name} takes 1 positional argument but {len(args) + 1} were given")
        fixed: dict[str, Any] = {
            "training": True,
            "_parameters": {},
            "_buffers": {},
            "_non_persistent_buffers_set": set(),
            "_forward_hooks": OrderedDict(),
            "_forward_pre_hooks": OrderedDict(),
            "_backward_hooks": OrderedDict(),
            "_backward_pre_hooks": OrderedDict(),
            "_modules": {},
        }
        self.__dict__.update(fixed)

    def forward(self, *input: Any) -> Any:
        """What a call computes."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: a module runs as it is."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (self._forward_pre_hooks or self._forward_hooks or self._backward_hooks or self._backward_pre_hooks):
            return self.forward(*args, **kwargs)
        from srcgrad.eager.nn.module_hooks import called

        return called(self, args, kwargs)

    # --- attributes --------------------------------------------------------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        for table in _TABLES:
            held = self.__dict__.get(table)
            if held is not None and name in held:
                return held[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        held = self.__dict__
        kind = (
            "_parameters"
            if isinstance(value, Parameter)
            else "_modules"
            if isinstance(value, Module)
            else "_buffers"
            if isinstance(value, Buffer)
            else None
        )
        if kind is not None:
            if kind not in held:
                what = {"_parameters": "parameters", "_modules": "module", "_buffers": "buffer"}[kind]
                raise AttributeError(f"cannot assign {what} before Module.__init__() call")
            for table in _TABLES:
                if table != kind:
                    held[table].pop(name, None)
            held.pop(name, None)
            held["_non_persistent_buffers_set"].discard(name)
            if kind == "_parameters":
                self.register_parameter(name, value)
            else:
                held[kind][name] = value
            if isinstance(value, Buffer) and not value.persistent:
                held["_non_persistent_buffers_set"].add(name)
            return
        for table, expected in (
            ("_parameters", "parameter '{}' (torch.nn.Parameter or None expected)"),
            ("_modules", "child module '{}' (torch.nn.Module or None expected)"),
            ("_buffers", "buffer '{}' (torch.nn.Buffer, torch.Tensor or None expected)"),
        ):
            if name in held.get(table, ()):
                if value is not None and not (table == "_buffers" and isinstance(value, Tensor)):
                    raise TypeError(f"cannot assign '{_type_name(value)}' as {expected.format(name)}")
                held[table][name] = value
                return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for table in _TABLES:
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted({name for name in names if not name[0].isdigit()})

    def _check_name(self, name: Any, what: str, table: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
        if not name:
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Keep a parameter under a name."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name(name, "parameter", "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_type_name(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Keep a tensor that is no parameter under a name."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name(name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Keep a module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._check_name(name, "module", "_modules")
        self._modules[name] = module

    register_module = add_module

    # --- what it holds -----------------------------------------------------------------------------------------------
    def _named(
        self, table: str, prefix: str, recurse: bool, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in module.__dict__[table].items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield path + ("." if path else "") + name, value

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, those of modules inside too."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters by their dotted names."""
        yield from self._named("_parameters", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, those of modules inside too."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers by their dotted names."""
        yield from self._named("_buffers", prefix, recurse, remove_duplicate)

    def children(self) -> Iterator[Module]:
        """The modules that are held directly."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules that are held directly, by name."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def modules(self) -> Iterator[Module]:
        """The module itself and all modules inside."""
        for _, module in self.named_modules():
            yield module

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """The module itself and all modules inside, by their dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def get_submodule(self, target: str) -> Module:
        """The module inside that has a dotted name."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module  # type: ignore[no-any-return]

    def _get_held(self, target: str, table: str, what: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in module.__dict__[table]:
            raise AttributeError(f"`{name}` is not {what}")
        return module.__dict__[table][name]

    def get_parameter(self, target: str) -> Parameter:
        """The parameter that has a dotted name."""
        return self._get_held(target, "_parameters", "an nn.Parameter")  # type: ignore[no-any-return]

    def get_buffer(self, target: str) -> Tensor:
        """The buffer that has a dotted name."""
        return self._get_held(target, "_buffers", "a buffer")  # type: ignore[no-any-return]

    # --- what is done to all of it -----------------------------------------------------------------------------------
    def apply(self, fn: Callable[[Module], Any]) -> Any:
        """Call a function with every module inside, then with this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Any:
        """Let modules know that they are being trained, or not."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        """Let modules know that they are not being trained."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Change whether the parameters require grad."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of the parameters, or set them to zero."""
        for parameter in self.parameters():
            if parameter.gradient is None:
                continue
            if set_to_none:
                parameter.gradient = None
            else:
                if parameter.gradient.grad_fn is not None:
                    parameter.gradient.detach_()
                else:
                    parameter.gradient.requires_grad_(False)
                parameter.gradient.zero_()

    def _converted(self, dtype: dtypes.dtype) -> Any:
        for tensor in [*self.parameters(), *self.buffers()]:
            if tensor.dtype.category >= 2:
                tensor.array = np.asarray(tensor.array).astype(dtype.numpy)
                if tensor.gradient is not None:
                    tensor.gradient = Tensor.of(tensor.gradient.array.astype(dtype.numpy))
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Convert parameters and buffers to a floating dtype; a device must be the CPU."""
        from srcgrad.eager.operations.creation import on_cpu

        for given in (*args, kwargs.get("dtype"), kwargs.get("device")):
            if isinstance(given, dtypes.dtype):
                if given.category < 2:
                    raise TypeError(
                        f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={given}"
                    )
                self._converted(given)
            elif not isinstance(given, bool | None):
                on_cpu(given)
        return self

    def float(self) -> Any:
        """Convert to float32."""
        return self._converted(dtypes.float32)

    def double(self) -> Any:
        """Convert to float64."""
        return self._converted(dtypes.float64)

    def half(self) -> Any:
        """Convert to float16."""
        return self._converted(dtypes.float16)

    def cpu(self) -> Any:
        """The module, which is on the CPU."""
        return self

    def cuda(self, device: Any = None) -> Any:
        """Refused: there is no such device."""
        return self.to("cuda")

    # --- state -------------------------------------------------------------------------------------------------------
    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Parameters and lasting buffers by their dotted names."""
        made: Any = OrderedDict() if destination is None else destination
        for name, tensor in [*self._parameters.items(), *self._buffers.items()]:
            if tensor is not None and name not in self._non_persistent_buffers_set:
                made[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=made, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return made

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Store what ``state_dict`` gave, under the same names."""
        with no_grad():
            return load(self, state_dict, strict, assign)

    # --- hooks -------------------------------------------------------------------------------------------------------
    def _hooked(self, table: str, hook: Any, prepend: bool = False) -> RemovableHandle:
        hooks = self.__dict__[table]
        handle = RemovableHandle(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_pre_hook(self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False) -> Any:
        """Call ``hook(module, args)`` before ``forward``; what it returns replaces the arguments."""
        return self._hooked("_forward_pre_hooks", (hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> Any:
        """Call ``hook(module, args, output)`` after ``forward``; what it returns replaces the output."""
        if always_call:
            raise NotImplementedError("register_forward_hook(always_call=True): hooks run after forward alone")
        return self._hooked("_forward_hooks", (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are there."""
        return self._hooked("_backward_hooks", hook, prepend)

    def register_full_backward_pre_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Call ``hook(module, grad_output)`` when the gradients of the outputs are there."""
        return self._hooked("_backward_pre_hooks", hook, prepend)

    # --- printing ----------------------------------------------------------------------------------------------------
    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What of the module's settings is printed."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(module), 2)}" for name, module in self._modules.items()]
        body = lines + children
        if not body:
            return f"{self._get_name()}()"
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        return f"{self._get_name()}(\n  " + "\n  ".join(body) + "\n)"


def indented(text: str, spaces: int) -> str:
    """Text whose lines but the first are moved to the right."""
    return text.replace("\n", "\n" + " " * spaces)


def _type_name(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"torch.{value.dtype.type_name}"
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


Module.__module__ = "torch.nn.modules.module"
