"""The table of effects as text: one line for the members, or the functions, that do the same.

``words: names``.  ``updates``: the receiver of a method, the first operand of a function; ``updates=1``: the operand
after it.  ``out=2``: where an output may be given.  ``keeps``: references to its arguments; ``items``: to their items.
``lengths``: what is updated may hold another number of items.  ``element``, ``view``, ``alias``: whose memory the
result is, at most (of its own otherwise).  ``quiet``: never raises.  ``draws``: random numbers.  ``calls``: functions
that it is given.  ``srcgrad.language.effects`` reads these lines.
"""

from __future__ import annotations

import io
import logging
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np

#: Attributes that describe a value, and carry no derivative.
SHAPES = frozenset("shape ndim size dtype itemsize nbytes strides flags __name__ __class__".split())
#: Members of every object.
OBJECT = """
fresh: __class__ __dict__ __dir__ __doc__ __eq__ __format__ __ge__ __getstate__ __gt__ __hash__ __init__
fresh: __init_subclass__ __le__ __lt__ __module__ __ne__ __new__ __repr__ __sizeof__ __str__ __subclasshook__
fresh: __weakref__ __static_attributes__ __firstlineno__
element: __getnewargs__
view: __class_getitem__ __getattribute__ __reduce__ __reduce_ex__
updates keeps lengths: __setattr__ __delattr__
"""
_SEQUENCE = """
fresh: __contains__ __len__ count index
element: __add__ __getitem__ __mul__ __rmul__
view: __iter__ __reversed__
"""
_CHANGING = """
quiet updates keeps lengths: append
quiet updates lengths: clear
updates keeps lengths: insert
updates items lengths: __init__ extend
updates items alias lengths: __iadd__
updates alias lengths: __imul__
updates element lengths: pop
updates lengths: __delitem__ remove
quiet updates: reverse
quiet element: copy
"""
_LIST = """
updates items keeps lengths: __setitem__
updates calls: sort
"""
_DEQUE = """
quiet updates keeps lengths: appendleft
updates items lengths: extendleft
updates keeps: __setitem__
updates element lengths: popleft
updates: rotate
quiet element: __copy__
fresh: maxlen
"""
_MAPPING = """
fresh: __contains__ __len__
element: __getitem__ __or__ __ror__
alias: fromkeys get
quiet view: items keys values
view: __iter__ __reversed__
quiet element: copy
updates keeps lengths: __setitem__
updates items lengths: __init__ update
updates lengths: __delitem__
quiet updates lengths: clear
updates items alias lengths: __ior__
updates keeps alias lengths: setdefault
updates alias lengths: pop
updates element lengths: popitem
"""
_DEFAULTDICT = """
updates keeps element lengths: __getitem__ __missing__
quiet element: __copy__
fresh: default_factory
"""
_ORDEREDDICT = """
updates: move_to_end
"""
_COUNTER = """
fresh: __add__ __and__ __missing__ __neg__ __pos__ __sub__ total
element: most_common
view: elements
updates alias lengths: __iadd__ __iand__ __isub__ _keep_positive
updates items lengths: subtract
"""
_ANY_SET = """
fresh: __contains__ __len__ __rsub__ isdisjoint issubset issuperset
element: __and__ __or__ __rand__ __ror__ __rxor__ __sub__ __xor__ difference intersection symmetric_difference union
quiet element: copy
view: __iter__
"""
_SET = """
updates keeps lengths: add
updates items lengths: __init__ intersection_update symmetric_difference_update update
updates lengths: difference_update discard remove
quiet updates lengths: clear
updates items alias lengths: __iand__ __ior__ __ixor__
updates alias lengths: __isub__
updates element lengths: pop
"""
_TEXT = """
fresh: __add__ __contains__ __getitem__ __iter__ __len__ __mod__ __mul__ __rmod__ __rmul__ capitalize center count
fresh: endswith expandtabs find index isalnum isalpha isascii isdigit islower isspace istitle isupper join ljust lower
fresh: lstrip partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines
fresh: startswith strip swapcase title translate upper zfill
element: maketrans
"""
_STR = """
fresh: casefold encode format format_map isdecimal isidentifier isnumeric isprintable
"""
_BYTES = """
fresh: __bytes__ decode fromhex hex
view: __buffer__
"""
_ARRAY = """
fresh: __abs__ __add__ __and__ __array_finalize__ __array_function__ __array_interface__ __array_namespace__
fresh: __array_priority__ __array_struct__ __array_ufunc__ __bool__ __complex__ __contains__ __copy__ __deepcopy__
fresh: __divmod__ __dlpack_device__ __float__ __floordiv__ __index__ __int__ __invert__ __len__ __lshift__ __matmul__
fresh: __mod__ __mul__ __neg__ __or__ __pos__ __pow__ __radd__ __rand__ __rdivmod__ __rfloordiv__ __rlshift__
fresh: __rmatmul__ __rmod__ __rmul__ __ror__ __rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __sub__
fresh: __truediv__ __xor__ argpartition argsort copy device dtype dumps flags flatten item itemsize nbytes ndim
fresh: nonzero repeat searchsorted shape size strides tobytes tolist tostring
alias: __array__ __array_wrap__ real squeeze to_device
view: T __buffer__ __dlpack__ __getitem__ __iter__ astype base ctypes data diagonal flat
view: getfield imag mT newbyteorder ravel reshape swapaxes transpose view
updates alias: __iadd__ __iand__ __ifloordiv__ __ilshift__ __imatmul__ __imod__ __imul__ __ior__ __ipow__ __irshift__
updates alias: __isub__ __itruediv__ __ixor__ byteswap
updates: __delitem__ __setitem__ __setstate__ fill itemset partition put setfield setflags sort
updates: _set_dtype _set_shape
updates lengths: resize
view out=1: conj conjugate
out=2: all any argmax argmin choose dot max min ptp round
out=3: clip compress cumprod cumsum mean prod std sum take var
out=5: trace
updates=1: dump tofile
"""
_GENERATOR = """
view: bit_generator
draws: beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric integers
draws: laplace logistic lognormal logseries multinomial multivariate_hypergeometric multivariate_normal
draws: negative_binomial noncentral_chisquare noncentral_f normal pareto permutation poisson power rayleigh
draws: standard_cauchy standard_t triangular uniform vonmises wald weibull zipf
draws out=3: permuted random standard_exponential standard_normal
draws out=4: standard_gamma
draws updates=1: shuffle
updates: __init__ __setstate__
updates view: spawn
view: _bit_generator
fresh: _poisson_lam_max
"""
_RANDOM_STATE = """
draws: rand randint randn random_integers random_sample tomaxint beta binomial bytes chisquare choice dirichlet
draws: exponential f gamma geometric gumbel hypergeometric laplace logistic lognormal logseries multinomial
draws: multivariate_normal negative_binomial noncentral_chisquare noncentral_f normal pareto permutation poisson power
draws: random rayleigh standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular
draws: uniform vonmises wald weibull zipf
draws updates=1: shuffle
fresh: get_state
updates: __setstate__ seed set_state
"""
_FILE = """
updates: write writelines truncate
"""
_LOGGER = """
fresh: critical debug error exception fatal getEffectiveLevel hasHandlers info isEnabledFor log warn warning
"""
_NUMBER = """
fresh: bit_length bit_count is_integer conjugate as_integer_ratio hex from_bytes to_bytes fromhex numerator denominator
"""
MEMBERS: dict[type, tuple[str, ...]] = {
    list: (_SEQUENCE, _CHANGING, _LIST),
    tuple: (_SEQUENCE,),
    dict: (_MAPPING,),
    set: (_ANY_SET, _SET),
    frozenset: (_ANY_SET,),
    deque: (_SEQUENCE, _CHANGING, _DEQUE),
    defaultdict: (_MAPPING, _DEFAULTDICT),
    OrderedDict: (_MAPPING, _ORDEREDDICT),
    Counter: (_MAPPING, _COUNTER),
    str: (_TEXT, _STR),
    bytes: (_TEXT, _BYTES),
    np.ndarray: (_ARRAY,),
    np.random.Generator: (_GENERATOR,),
    np.random.RandomState: (_RANDOM_STATE,),
    io.StringIO: (_FILE,),
    logging.Logger: (_LOGGER,),
    int: (_NUMBER,),
    float: (_NUMBER,),
    complex: (_NUMBER,),
    slice: ("fresh: indices",),
}
#: What writes text elsewhere, which no program reads: each stands for objects of classes that libraries derive from it.
WRITERS: dict[type, type] = {logging.Logger: logging.Logger, io.TextIOBase: io.StringIO}
#: The classes of which every member is listed.
KINDS: tuple[type, ...] = tuple(MEMBERS)[:13]

#: Modules whose functions update none of their operands, but those below and what is given as ``out``.
READING = frozenset(
    """abc array_api_compat bisect builtins calendar cmath collections colorsys copy dataclasses datetime decimal enum
    fractions functools heapq inspect itertools json logging math numbers numpy operator os pathlib platform re random
    scipy statistics string sys textwrap time traceback types typing unicodedata uuid warnings weakref zlib""".split()
)
#: Of these modules, the ones of which that is not so: what is not listed there may update anything.
NOT_READING = ("numpy.ma",)
_HEAPS = """
updates keeps lengths: heappush
updates element lengths: heappop
updates keeps element: heapreplace
updates keeps alias: heappushpop
updates: heapify
element: nlargest nsmallest
view: merge
"""
FUNCTIONS: dict[str, str] = {
    "heapq": _HEAPS,
    "bisect": "updates keeps lengths: insort insort_left insort_right",
    "operator": """
updates keeps alias lengths: iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor
updates keeps lengths: setitem
updates lengths: delitem
calls: methodcaller
element: getitem itemgetter
view: attrgetter
""",
    "builtins": """
updates keeps: setattr delattr
updates element lengths: next
view: getattr iter reversed enumerate zip vars memoryview super
view calls: filter map
element: list tuple dict set frozenset
alias: float sum
alias calls: max min
element calls: sorted
calls updates=-1: eval exec
""",
    "numpy": """
updates: copyto fill_diagonal place put put_along_axis putmask
calls: apply_along_axis apply_over_axes fromfunction frompyfunc piecewise vectorize
view: array array_split as_strided asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray astype
view: atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to diag diagonal diff dsplit einsum
view: expand_dims flatnonzero flip fliplr flipud hsplit imag ix_ matrix_power matrix_transpose meshgrid moveaxis
view: permute_dims polyder polyint ravel real real_if_close require reshape rollaxis rot90
view: histogram histogram2d histogram_bin_edges histogramdd sliding_window_view split squeeze swapaxes
view: transpose trim_zeros unstack vsplit
view unless=copy: nan_to_num
""",
    "scipy": """
updates=2: sweep_poly
: linear_sum_assignment sepfir2d tsearch
""",
    "numpy.random": "draws updates: shuffle",
    "numpy.random.mtrand": "draws updates: shuffle",
    "random": """
draws: betavariate expovariate gammavariate gauss getrandbits lognormvariate normalvariate paretovariate randbytes
draws: randint random randrange triangular uniform vonmisesvariate weibullvariate
draws updates: shuffle
draws element: choice choices sample
""",
    "statistics": "element: median_high median_low mode multimode",
    "typing": "alias: assert_type cast",
    "functools": "alias calls: reduce partial",
    "copy": """
element: copy replace
""",
    "collections": "element: deque OrderedDict defaultdict Counter ChainMap namedtuple",
}

#: Of the functions that emitted code names: what is not listed reads its operands, and may hand on them, or what they
#: hold, as its result.  A cotangent, tangent or shadow is ``fresh`` or a ``view``: it holds no objects, since those of
#: objects are dicts.  What calls functions that it is given, or makes what is called, is ``unknown``.  ``of=2``: its
#: result, and what it puts into what it updates, are of this operand alone; ``of=2+`` of it and every second one
#: after it, which are shadows beside their values.
RUNTIME = """
updates: accumulate put_back
updates keeps of=2: add_at unrest
updates keeps view of=0 of=3+: tangent_like
draws: shuffled
updates: claim step
calls alias: from_pairs keyed merged union
calls: argsorted asked chosen chosen_number require_hashed
unknown: Closure attempt attempt_store attempt_whole attribute bound closure defaulting left_early made made_of raisable
unknown: raised_augmenting raised_by_manager raised_entering raised_in_place raised_iterating tried
fresh: keeping reversal stretches
fresh: add all_places along_places alongside are_numbers count diagonal_places dtype_of_first each_once entering
fresh: flat_places followed held_before held_inside holds_field is_above is_below is_between is_exact is_made_of
fresh: is_mapping is_replaced is_sequence is_within mask_places one_for or_zeros place_in_memory places_of private
fresh: readable
fresh: require_apart selected separate shadow shortest taken ties unshared untake untaken where_places wins zeros_like
view: as_given as_list as_stored given_to pack_like placed_alone rearray remerged repairs spread unarray unfield
view: ungather unjoined unkeyed unmerged unpack_like unpairs unpart_like unprivate unqueue unrepeated unview
view: where_first widened
view of=0: field_of fresh like_own own_adjoint stored unbroadcast unreduce
fresh: each_example number_of_examples of_numbers over_batch over_examples require_examples zeros_over_batch
view: numbers_apart unbroadcast_each with_rank
view of=2: items_moved part_like rest_like view_moved
view of=2+: items_like view_like
"""
