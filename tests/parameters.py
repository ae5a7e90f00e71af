"""Parameters of tests that run over the corpus and the tables: readable names, and what waits for the night."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.corpus.example import Case

ParameterSet = type(pytest.param(None))

#: Tests of which one parameter in so many runs by day, and the others at night: each asks the same of another program.
SHARES = {
    "tests/analysis/test_keys.py::test_keys_that_vary_are_refused_where_they_are_of_use": 2,
    "tests/analysis/test_keys.py::test_other_uses_of_keys_are_right": 2,
    "tests/analysis/test_receivers.py::test_what_a_method_makes_itself_may_change": 2,
    "tests/analysis/test_receivers.py::test_what_would_be_lost_is_refused": 2,
    "tests/analysis/test_text.py::test_a_number_from_text_of_what_varies_is_refused": 2,
    "tests/analysis/test_text.py::test_text_that_is_reached_by_another_way_is_refused": 2,
    "tests/analysis/test_unknown_keys.py::test_a_derivative_that_would_end_is_refused": 2,
    "tests/directed/test_changing_loops.py::test_python_raises_where_this_is_refused": 2,
    "tests/directed/test_eager.py::test_eager": 2,
    "tests/directed/test_eager.py::test_eager_twice": 2,
    "tests/directed/test_modes.py::test_mode": 2,
    "tests/directed/test_run_time.py::test_a_reshape_is_a_view_or_a_copy_by_the_layout": 2,
    "tests/eager/test_corpus.py::test_eager_and_compiled_agree": 3,
    "tests/eager/test_expressions.py::test_gradients_have_the_dtype_of_what_they_are_of": 2,
    "tests/eager/test_expressions.py::test_gradients_of_gradients_are_their_slopes": 2,
    "tests/eager/test_expressions.py::test_tangents_are_the_slopes": 2,
    "tests/frontend/test_as_python.py::test_the_normal_form_does_what_the_program_does": 2,
    "tests/frontend/test_class_attributes.py::test_what_a_class_holds_is_not_stored_into": 2,
    "tests/frontend/test_data_model.py::test_a_method_that_declines_is_followed_by_the_other_one": 2,
    "tests/frontend/test_dicts.py::test_changes_of_containers_and_fields": 2,
    "tests/frontend/test_functions_of_objects.py::test_a_field_that_changes_while_the_object_is_made_is_refused": 2,
    "tests/frontend/test_guards_of_cases.py::test_guards": 4,
    "tests/frontend/test_objects_of_unknown_class.py::test_it_is_right_or_refused": 2,
    "tests/frontend/test_operand_order.py::test_the_operand_of_a_subclass_is_asked_first": 2,
    "tests/frontend/test_sparse.py::test_all_modes_agree_with_the_dense_program": 3,
    "tests/frontend/test_unassigned.py::test_a_variable_that_nothing_bound_is_read": 2,
    "tests/frontend/test_unseen_calls.py::test_what_runs_unseen_is_run_or_refused": 2,
    "tests/frontend/test_unseen_methods.py::test_a_truth_that_steps_something_else_is_refused": 2,
    "tests/frontend/test_unseen_methods.py::test_an_iterator_is_searched_once_for_each_time_that_python_does": 2,
    "tests/frontend/test_unseen_methods.py::test_an_object_that_is_asked_by_a_method_that_stores_is_refused": 5,
    "tests/fuzz/test_generator.py::test_a_short_hunt_finds_nothing": 3,
    "tests/parallel/test_dask.py::test_any_number_of_workers": 2,
    "tests/parallel/test_dask.py::test_the_same_bits": 2,
    "tests/parallel/test_same_bits.py::test_any_order_of_arrival": 2,
    "tests/rules/test_complex_numbers.py::test_cmath_of_a_float_is_complex_and_its_cotangent_real": 2,
    "tests/rules/test_complex_results.py::test_parts_of_complex_numbers_in_functions_that_are_complex": 4,
    "tests/rules/test_decompositions.py::test_both_directions_and_order_two": 3,
    "tests/rules/test_elementwise.py::test_orders_of_families": 2,
    "tests/rules/test_elementwise.py::test_orders_of_functions_of_numbers": 2,
    "tests/rules/test_fourier.py::test_orders": 2,
    "tests/rules/test_joining.py::test_derivatives": 2,
    "tests/rules/test_linear_systems.py::test_functions_of_a_system": 2,
    "tests/rules/test_lists_for_scipy.py::test_lists_are_arrays": 3,
    "tests/rules/test_math_of_complex.py::test_a_complex_number_is_refused": 2,
    "tests/rules/test_norms.py::test_every_order_twice": 2,
    "tests/rules/test_picking.py::test_derivatives": 2,
    "tests/rules/test_polynomials.py::test_orders": 2,
    "tests/rules/test_products.py::test_call_forms": 2,
    "tests/rules/test_products.py::test_each_partial_has_the_dtype_of_its_factor": 2,
    "tests/rules/test_ranges.py::test_derivatives": 2,
    "tests/rules/test_reductions.py::test_complex_numbers": 2,
    "tests/rules/test_reductions.py::test_forms": 3,
    "tests/rules/test_rules.py::test_every_sample": 5,
    "tests/rules/test_rules.py::test_float32_is_kept": 2,
    "tests/rules/test_running_results.py::test_forms": 2,
    "tests/rules/test_running_results.py::test_the_other_arguments_vary_too": 2,
    "tests/rules/test_scipy_linalg.py::test_the_first_order_agrees_with_numbers": 2,
    "tests/rules/test_scipy_linalg.py::test_two_orders_agree_with_numbers": 3,
    "tests/rules/test_shaping.py::test_methods": 2,
    "tests/rules/test_statistics.py::test_averages": 2,
    "tests/rules/test_statistics.py::test_covariances": 2,
    "tests/rules/test_statistics.py::test_every_method_by_elements_and_by_q": 2,
    "tests/rules/test_stats.py::test_an_infinite_bound_of_an_interval": 2,
    "tests/rules/test_stats.py::test_beyond_the_support_nothing_moves": 2,
    "tests/rules/test_stats.py::test_functions_agree_with_each_other": 2,
    "tests/rules/test_ufunc_methods.py::test_reductions": 2,
    "tests/runtime/test_descending.py::test_a_long_list_is_walked": 2,
    "tests/specialise/test_attempts_in_place.py::test_of_data": 2,
    "tests/specialise/test_attempts_in_place.py::test_served": 2,
    "tests/specialise/test_columns.py::test_derivatives": 2,
    "tests/specialise/test_columns.py::test_derivatives_where_nothing_is_said_of_the_arguments": 2,
    "tests/specialise/test_dicts.py::test_of_data": 2,
    "tests/specialise/test_emitted.py::test_the_text_of_a_gradient_is_inferred": 3,
    "tests/specialise/test_several_iterators.py::test_derivatives": 2,
    "tests/specialise/test_array_api.py::test_programs": 2,
    "tests/specialise/test_attempts.py::test_derivatives": 4,
    "tests/specialise/test_attempts_of_functions.py::test_functions_that_attempt": 3,
    "tests/specialise/test_containers.py::test_derivatives": 4,
    "tests/specialise/test_derivatives_inside.py::test_derivatives": 4,
    "tests/specialise/test_endings.py::test_generators_that_nothing_ends_stay_right": 2,
    "tests/specialise/test_endings.py::test_stop_iteration_in_what_takes_items": 3,
    "tests/specialise/test_endings.py::test_stop_iteration_out_of_what_gives_items": 4,
    "tests/specialise/test_functions.py::test_functions": 4,
    "tests/specialise/test_iterators.py::test_derivatives": 2,
    "tests/specialise/test_iterators.py::test_derivatives_of_generators": 2,
    "tests/specialise/test_kinds.py::test_right": 4,
    "tests/specialise/test_managers_that_raise.py::test_other_managers_are_right_or_refused": 3,
    "tests/specialise/test_managers_that_raise.py::test_silent_managers_are_followed": 3,
    "tests/specialise/test_managers_that_raise.py::test_what_is_inferred_is_right": 2,
    "tests/specialise/test_objects.py::test_right_in_both_directions": 4,
    "tests/specialise/test_sets.py::test_derivatives": 4,
    "tests/specialise/test_side_by_side.py::test_derivatives": 2,
    "tests/specialise/test_ways_out.py::test_last_blocks_that_leave_a_loop": 3,
    "tests/test_attempts.py::test_what_a_count_or_a_step_raises_at_the_head_of_a_loop_is_caught": 2,
    "tests/test_attempts.py::test_what_nobody_reads_raises_inside_of_try": 2,
    "tests/test_attempts.py::test_what_the_operands_raise_is_caught": 4,
    "tests/test_binding.py::test_derivatives_bind_as_calls_do": 4,
    "tests/test_binding.py::test_derivatives_of_the_gradient_of_a_method": 2,
    "tests/test_complex.py::test_reverse_forward_and_second_order_agree_with_numbers": 2,
    "tests/test_corpus.py::test_analytic_examples_are_analytic": 3,
    "tests/test_corpus.py::test_forward": 2,
    "tests/test_corpus.py::test_hessian_vector_product": 3,
    "tests/test_corpus.py::test_joint_gradient": 3,
    "tests/test_corpus.py::test_reverse": 4,
    "tests/test_corpus.py::test_reverse_not_optimised": 2,
    "tests/test_corpus.py::test_reverse_without_facts": 4,
    "tests/test_corpus.py::test_second_order_agrees": 2,
    "tests/test_crashes.py::test_an_odd_program_is_right_in_every_mode": 2,
    "tests/test_dtypes.py::test_adjoints_and_tangents_keep_the_dtype_and_make_nothing_wider": 2,
    "tests/test_dtypes.py::test_each_of_two_partners_has_its_own_dtype": 2,
    "tests/test_dtypes.py::test_reductions_to_objects_and_dates_are_refused": 2,
    "tests/test_dtypes.py::test_values_agree_with_those_of_double_precision": 2,
    "tests/test_effects.py::test_effects_are_those_of_the_program": 2,
    "tests/test_evaluation_order.py::test_a_form_evaluates_its_operands_as_python_does": 3,
    "tests/test_evaluation_order.py::test_a_name_that_one_target_binds_twice": 2,
    "tests/test_evaluation_order.py::test_a_view_shows_what_later_operands_change": 2,
    "tests/test_functions_wrapped.py::test_right_or_refused": 3,
    "tests/test_keys_of_dicts.py::test_a_dict_that_a_recursion_returned_is_refused_when_it_is_read_by_places": 2,
    "tests/test_layers.py::test_layer": 2,
    "tests/test_lists_as_arrays.py::test_numpy_computes_with_a_list_as_with_an_array": 2,
    "tests/test_memory_shared_outside.py::test_a_copy_is_apart": 2,
    "tests/test_memory_shared_outside.py::test_arguments_that_are_stored_into_are_apart": 2,
    "tests/test_memory_shared_outside.py::test_containers_and_objects_are_apart": 2,
    "tests/test_memory_shared_outside.py::test_what_is_read_outside_is_apart": 4,
    "tests/test_nothing_changes.py::test_gradients_leave_everything_as_it_was": 2,
    "tests/test_nothing_changes.py::test_pullbacks_leave_everything_as_it_was": 2,
    "tests/test_nothing_changes.py::test_second_derivatives_leave_everything_as_it_was": 2,
    "tests/test_nothing_changes.py::test_tangents_leave_everything_as_it_was": 2,
    "tests/test_output_is_input.py::test_the_text_of_the_gradient_is_a_plain_program": 2,
    "tests/test_overlapping_stores.py::test_what_overlaps_is_stored_as_numpy_does": 2,
    "tests/test_raised_alone.py::test_what_a_caller_handles_is_refused": 2,
    "tests/test_raised_alone.py::test_what_is_handled_is_raised_again": 4,
    "tests/test_rebinding.py::test_every_mode_follows": 3,
    "tests/test_results_apart.py::test_a_store_into_a_result_is_seen_there_only": 5,
    "tests/test_second_order.py::test_three_ways_and_numbers": 2,
    "tests/test_second_order_stores.py::test_gradient": 2,
    "tests/test_spec.py::test_what_the_compiler_makes_keeps_to_the_doors": 2,
    "tests/test_stored_arguments.py::test_views_are_views_in_every_layout": 2,
    "tests/test_stored_lists.py::test_items_that_are_put_into_integers_are_refused": 2,
    "tests/test_stored_lists.py::test_lists_that_are_stored": 4,
    "tests/test_strong_zeros.py::test_what_is_masked_has_no_part_in_any_mode": 2,
    "tests/test_strong_zeros.py::test_what_is_zero_by_value_keeps_its_second_derivatives": 2,
    "tests/transform/test_caught_stores.py::test_a_store_that_raises_leaves_the_tangent_as_it_was": 2,
    "tests/transform/test_forward.py::test_the_corpus": 2,
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
