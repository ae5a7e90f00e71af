"""The programs of the corpus that are not specialised yet, by their names."""

NOT_YET = frozenset(
    """
 cache_const choose_grad dicts_of_computed_keys frozen_dataclass global_fn_list_active handler_raises import_inside
 listcomp_of_lambdas lru_cached methodcall named_tuples_made_inside nested_grad_made nested_hess nested_hvp nested_jac
 nested_jvp nested_vjp operators_of_a_dataclass partial_outside slots_and_items try_return with_lock
    """.split()
)
