"""Parameters of tests that run over the corpus and the tables: readable names, and what waits for the night."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.corpus.example import Case

ParameterSet = type(pytest.param(None))

#: Tests of which one parameter in so many runs by day, and the others at night: each asks the same of another program.
SHARES = {
    "tests/eager/test_corpus.py::test_eager_and_compiled_agree": 2,
    "tests/eager/test_expressions.py::test_gradients_have_the_dtype_of_what_they_are_of": 2,
    "tests/eager/test_expressions.py::test_gradients_of_gradients_are_their_slopes": 2,
    "tests/eager/test_expressions.py::test_tangents_are_the_slopes": 2,
    "tests/frontend/test_guards_of_cases.py::test_guards": 3,
    "tests/frontend/test_sparse.py::test_all_modes_agree_with_the_dense_program": 2,
    "tests/frontend/test_unseen_methods.py::test_an_object_that_is_asked_by_a_method_that_stores_is_refused": 4,
    "tests/fuzz/test_generator.py::test_a_short_hunt_finds_nothing": 3,
    "tests/parallel/test_dask.py::test_any_number_of_workers": 2,
    "tests/parallel/test_dask.py::test_the_same_bits": 2,
    "tests/parallel/test_same_bits.py::test_any_order_of_arrival": 2,
    "tests/rules/test_complex_results.py::test_parts_of_complex_numbers_in_functions_that_are_complex": 3,
    "tests/rules/test_decompositions.py::test_both_directions_and_order_two": 2,
    "tests/rules/test_elementwise.py::test_orders_of_families": 2,
    "tests/rules/test_elementwise.py::test_orders_of_functions_of_numbers": 2,
    "tests/rules/test_fourier.py::test_orders": 2,
    "tests/rules/test_joining.py::test_derivatives": 2,
    "tests/rules/test_lists_for_scipy.py::test_lists_are_arrays": 3,
    "tests/rules/test_norms.py::test_every_order_twice": 2,
    "tests/rules/test_picking.py::test_derivatives": 2,
    "tests/rules/test_polynomials.py::test_orders": 2,
    "tests/rules/test_products.py::test_each_partial_has_the_dtype_of_its_factor": 2,
    "tests/rules/test_ranges.py::test_derivatives": 2,
    "tests/rules/test_reductions.py::test_forms": 2,
    "tests/rules/test_rules.py::test_every_sample": 4,
    "tests/rules/test_scipy_linalg.py::test_two_orders_agree_with_numbers": 3,
    "tests/rules/test_statistics.py::test_averages": 2,
    "tests/rules/test_statistics.py::test_every_method_by_elements_and_by_q": 2,
    "tests/rules/test_stats.py::test_functions_agree_with_each_other": 2,
    "tests/specialise/test_attempts.py::test_derivatives": 4,
    "tests/specialise/test_attempts_of_functions.py::test_functions_that_attempt": 3,
    "tests/specialise/test_containers.py::test_derivatives": 4,
    "tests/specialise/test_derivatives_inside.py::test_derivatives": 4,
    "tests/specialise/test_endings.py::test_stop_iteration_in_what_takes_items": 2,
    "tests/specialise/test_endings.py::test_stop_iteration_out_of_what_gives_items": 3,
    "tests/specialise/test_functions.py::test_functions": 4,
    "tests/specialise/test_kinds.py::test_right": 3,
    "tests/specialise/test_managers_that_raise.py::test_other_managers_are_right_or_refused": 2,
    "tests/specialise/test_managers_that_raise.py::test_silent_managers_are_followed": 2,
    "tests/specialise/test_managers_that_raise.py::test_what_is_inferred_is_right": 2,
    "tests/specialise/test_objects.py::test_right_in_both_directions": 4,
    "tests/specialise/test_sets.py::test_derivatives": 3,
    "tests/specialise/test_ways_out.py::test_last_blocks_that_leave_a_loop": 3,
    "tests/test_attempts.py::test_what_the_operands_raise_is_caught": 3,
    "tests/test_binding.py::test_derivatives_bind_as_calls_do": 3,
    "tests/test_complex.py::test_reverse_forward_and_second_order_agree_with_numbers": 2,
    "tests/test_corpus.py::test_analytic_examples_are_analytic": 3,
    "tests/test_corpus.py::test_hessian_vector_product": 3,
    "tests/test_corpus.py::test_joint_gradient": 3,
    "tests/test_corpus.py::test_reverse": 3,
    "tests/test_corpus.py::test_reverse_without_facts": 4,
    "tests/test_crashes.py::test_an_odd_program_is_right_in_every_mode": 2,
    "tests/test_effects.py::test_effects_are_those_of_the_program": 2,
    "tests/test_evaluation_order.py::test_a_form_evaluates_its_operands_as_python_does": 2,
    "tests/test_evaluation_order.py::test_a_view_shows_what_later_operands_change": 2,
    "tests/test_functions_wrapped.py::test_right_or_refused": 3,
    "tests/test_layers.py::test_layer": 2,
    "tests/test_memory_shared_outside.py::test_what_is_read_outside_is_apart": 3,
    "tests/test_nothing_changes.py::test_gradients_leave_everything_as_it_was": 2,
    "tests/test_output_is_input.py::test_the_text_of_the_gradient_is_a_plain_program": 2,
    "tests/test_overlapping_stores.py::test_what_overlaps_is_stored_as_numpy_does": 2,
    "tests/test_raised_alone.py::test_what_is_handled_is_raised_again": 3,
    "tests/test_rebinding.py::test_every_mode_follows": 3,
    "tests/test_results_apart.py::test_a_store_into_a_result_is_seen_there_only": 4,
    "tests/test_second_order_stores.py::test_gradient": 2,
    "tests/test_stored_lists.py::test_lists_that_are_stored": 3,
    "tests/test_strong_zeros.py::test_what_is_zero_by_value_keeps_its_second_derivatives": 2,
    "tests/transform/test_caught_stores.py::test_a_store_that_raises_leaves_the_tangent_as_it_was": 2,
    "tests/transform/test_forward_stores.py::test_tangent_of_every_program": 2,
    "tests/transform/test_shadows.py::test_reverse": 6,
    "tests/transform/test_whole_containers.py::test_a_list_is_reversed_as_it_was": 2,
}
#: Tests that depend on NumPy and on the machine, and not on the Python: they run on the first one only.
ON_ONE_PYTHON = (
    "tests/fuzz/", "tests/installed/", "tests/kinks/", "tests/parallel/", "tests/rules/", "tests/test_compile_time.py",
    "tests/test_complex.py", "tests/test_dtypes.py", "tests/test_generated.py", "tests/test_nothing_changes.py",
    "tests/test_output_is_input.py", "tests/test_second_order.py", "tests/test_second_order_stores.py",
)  # fmt: skip
#: Of programs that all Pythons run alike, one in so many on the other Pythons.
SHARES_ON_OTHERS = {"tests/directed/": 3, "tests/eager/": 3, "tests/test_corpus.py": 3}


def cases(chosen: Iterable[Case]) -> list[Any]:
    """Every program at every run."""
    return [pytest.param(case, id=f"{case.theme}-{case.name}") for case in chosen]


def some_by_day(chosen: Iterable[Case], every: int) -> list[Any]:
    """One program of so many at every run, the others at night (``pytest -m nightly``)."""
    return [
        pytest.param(case, id=f"{case.theme}-{case.name}", marks=pytest.mark.nightly if k % every else ())
        for k, case in enumerate(chosen)
    ]


def share_by_day(entries: Iterable[Any], every: int) -> list[Any]:
    """One of so many parameters of any kind at every run, the others at night; their ids and marks are kept.

    A tuple holds the values of several arguments.
    """
    made = []
    for k, entry in enumerate(entries):
        values = entry if isinstance(entry, tuple) else (entry,)
        given = entry if isinstance(entry, ParameterSet) else pytest.param(*values)
        night = [pytest.mark.nightly] if k % every else []
        made.append(pytest.param(*given.values, id=given.id, marks=[*given.marks, *night]))
    return made


def at_night(*values: Any, **more: Any) -> Any:
    """A parameter of the long run."""
    return pytest.param(*values, marks=pytest.mark.nightly, **more)


def for_each(entries: Iterable[Any], name: Callable[[Any], str] = str) -> Callable[..., Callable[[], None]]:
    """One test that looks at every entry of a table and reports all that fail, by ``name``.

    Where an entry takes microseconds, a test of its own costs a hundred times as much as what it looks at.
    """

    def decorate(check: Callable[[Any], None]) -> Callable[[], None]:
        def test() -> None:
            failures: list[Exception] = []
            for entry in entries:
                try:
                    check(entry)
                except Exception as failure:
                    failure.add_note(f"in {name(entry)}")
                    failures.append(failure)
            if failures:
                raise ExceptionGroup(f"{len(failures)} entries fail", failures)

        test.__doc__, test.__name__, test.__module__ = check.__doc__, check.__name__, check.__module__
        return test

    return decorate
