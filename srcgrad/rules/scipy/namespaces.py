"""SciPy's questions about arrays of several libraries: none has a derivative."""

from __future__ import annotations

import importlib
from importlib.util import find_spec

from scipy._lib import _array_api

from srcgrad.rules.table import constant

# SciPy 1.18 moved what it takes from elsewhere.
_HOLDER = "scipy._external" if find_spec("scipy._external") else "scipy._lib"
_helpers = importlib.import_module(f"{_HOLDER}.array_api_compat.common._helpers")

for _home, _names in (
    (_array_api, "is_complex is_marray xp_default_dtype xp_result_device xp_result_type"),
    (_array_api, "_length_nonmasked _count_nonmasked"),
    (_helpers, "device is_array_api_obj is_lazy_array is_numpy_array is_torch_array is_jax_array is_dask_array size"),
):
    for _name in _names.split():
        if hasattr(_home, _name):  # other versions know other questions
            constant(getattr(_home, _name))
