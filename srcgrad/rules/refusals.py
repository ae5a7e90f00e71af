"""What varies with its arguments and still has no derivative here: each with its reason and what to write instead.

A refusal is raised only where a derivative would flow through the call; on constant data these functions run as ever.
"""

from __future__ import annotations

import numpy as np

from srcgrad.rules.table import refused
from srcgrad.runtime.checkpoints import checkpointed

refused(
    "E0502", "which values are found, and how many, changes by jumps",
    np.unique,
    np.unique_all,
    np.unique_counts,
    np.unique_inverse,
    np.unique_values,
    np.union1d,
    np.intersect1d,
    np.setdiff1d,
    np.setxor1d,
    hint="sort with np.sort, or take values at indices found with stop_gradient",
)
refused(
    "E0121", "it is written around what a loop runs over, or around the test of a while",
    checkpointed,
    hint="write for i in checkpointed(range(n), snapshots=s), or while checkpointed(test, snapshots=s)",
)
refused(
    "E0507", "it gives what it is given, or an array of references to it",
    np.object_,
    hint="keep what it holds in a list",
)
refused(
    "E0302", "it gives no value; what it stores is differentiated",
    np.copyto,
    np.place,
    np.put,
    np.put_along_axis,
    np.putmask,
    np.fill_diagonal,
    hint="write it as a statement of its own",
)
refused(
    "E0205", "it calls a function on parts of an array",
    np.apply_over_axes,
    np.frompyfunc,
    hint="call the function on the whole array, or on each part in a comprehension, joined with np.stack",
)
refused(
    "E0205", "it calls a function on parts of an array, and is followed only where that is a function with source",
    np.apply_along_axis,
    hint="call the function on the whole array, or on each part in a comprehension, joined with np.stack",
)
refused(
    "E0205", "it calls a function on parts of an array, and is followed only without options, or with otypes=[float]",
    np.vectorize,
    hint="call the function on the whole array, or on each part in a comprehension, joined with np.stack",
)
refused(
    "E0205", "it calls functions on parts of an array, and is followed only where these are functions with source",
    np.piecewise,
    hint="choose between their values with np.where or np.select",
)
refused(
    "E0205", "it calls a function that is an argument, and is followed for a shape of up to three axes",
    np.fromfunction,
    hint="call the function itself on the arrays of np.indices(shape)",
)
refused(
    "E0505", "an iterator over the elements is not followed",
    np.broadcast,
    np.flatiter,
    np.fromiter,
    np.nested_iters,
    hint="loop over the array, or over range(len(x)); make arrays of lists with np.array",
)
refused(
    "E0505", "it is followed over one array, in the order of its memory, without flags or with multi_index",
    np.nditer,
    hint="write for item in np.nditer(x), or loop over np.ndindex(x.shape)",
)
refused(
    "E0505", "it is followed only as what a loop or a comprehension runs through",
    np.ndenumerate,
    hint="write for place, item in np.ndenumerate(x)",
)
refused(
    "E0505", "it reads the memory of an array",
    np.frombuffer,
    np.from_dlpack,
    np.ndarray,
    hint="use the array itself, or np.asarray",
)
refused(
    "E0505", "a matrix multiplies where an array does not",
    np.asmatrix,
    np.bmat,
    np.matrix,
    hint="use arrays of two axes and the operator @; np.block joins blocks",
)
refused(
    "E0505", "the fields of records are not followed",
    np.recarray,
    np.record,
    np.void,
    hint="use a dict or a named tuple of arrays",
)

refused(
    "E0505", "a polynomial as an object is not followed",
    np.poly1d,
    hint="keep the coefficients in an array: np.polyval, np.polymul, np.polyder and their kin take it",
)
refused(
    "E0505", "it writes a file",
    np.save,
    np.savetxt,
    np.savez,
    np.savez_compressed,
    hint="return the array and write it outside of the function",
)

refused(
    "E0502", "whether the result is complex depends on the values",
    np.emath.sqrt, np.emath.log, np.emath.log2, np.emath.log10, np.emath.logn, np.emath.power, np.emath.arccos,
    np.emath.arcsin, np.emath.arctanh,
    hint="give the ufunc a dtype: np.sqrt(x, dtype=complex)",
)  # fmt: skip
