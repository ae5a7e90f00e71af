"""What the compiler does not do of the directed programs: refused, with these words."""

#: What is said of a program where a mode refuses it; the other modes are right.
REFUSED: dict[str, tuple[str, ...]] = {
    "a_callee_raises_after_a_store": ("stored before it raised",),
    "a_method_that_stores_before_it_raises": ("stored before it raised",),
    "an_array_is_multiplied_by_lists_more_than_once": ("multiplied by an array", "a list has no shape"),
    "an_array_is_multiplied_by_a_list_in_a_loop": ("multiplied by an array", "a list has no shape"),
    "slices_of_lists_of_objects_are_stored_into": ("which classes the objects in",),
    "operators_that_call_one_another": ("the attribute 'a' is not one of an array",),
    "an_object_that_equals_anything_is_called": ("StopIteration may leave a generator",),
    "a_linked_list": ("a store into an object whose class is not known when this is compiled",),
    "a_linked_list_made_in_a_loop": ("which classes the objects in",),
    "getattr_and_setattr": ("setattr() reaches names and objects behind the compiler's back",),
    "iterating_a_list_that_grows": ("a list changes its length while it is looped over",),
    "lists_that_grow_under_enumerate_and_in_a_callee": ("a list changes its length while it is looped over",),
    "maximum_at": ("np.maximum.at repeats its operation where an index is repeated",),
    "multiply_at": ("np.multiply.at repeats its operation where an index is repeated",),
    "default_argument": ("a missing key of a defaultdict is read",),
    "default_caught_in_a_callee": ("a missing key of a defaultdict is read",),
    "default_in_callee": ("a missing key of a defaultdict is read",),
    "default_of_a_callee": ("a missing key of a defaultdict is read",),
    "the_best_so_far_of_two_classes": ("the method 'energy' is not one of an array",),
    "a_store_hides_a_method": ("a store hides the method 'act' of class Acting",),
    "an_argument_hides_a_method": ("a field of an object of class Acting hides the method 'act'",),
    "keywords_that_a_callee_adds_to": ("is handed on by a function known only when the program runs",),
    "keywords_that_an_alias_adds_to": ("is handed on by a function known only when the program runs",),
    "a_set_that_is_reversed": ("a set has no order to be reversed",),
    "sets_in_a_dict_in_a_field": ("which classes the objects in",),
    "sets_put_in_by_setdefault": ("what changes here is not known to be a set",),
    "the_rest_of_an_array_is_stored_into": (
        "a store into what may be an array or a container cannot be reversed twice",
    ),
    "displays_with_the_items_of_others": (
        "a store into what may be an array or a container cannot be reversed twice",
    ),
    "a_view_that_a_local_function_returns": ("a view of a dict is kept",),
    "view_given_to_callee": ("a view of a dict is given to a function that may change the dict",),
    "copies_that_change_what_they_are_made_of": ("__copy__ of class Counted stores, and is called where no call",),
    "operators_in_place_by_function": ("imul is given an object",),
    # At second order only: the text of the first derivative reads the axis out of what it saved.
    "keywords_of_library_functions_that_are_known": ("the axis of unreduce varies",),
}
