"""The programs of the corpus that are not specialised yet, by their names."""

NOT_YET = frozenset(
    """
 cache_const choose_grad frozen_dataclass handler_raises
 lru_cached methodcall nested_grad_made nested_hess nested_hvp nested_jac
 nested_jvp nested_vjp partial_outside try_return with_lock
    """.split()
)
