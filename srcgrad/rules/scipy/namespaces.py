"""SciPy's questions about arrays of several libraries: none has a derivative."""

from __future__ import annotations

from scipy._lib import _array_api
from scipy._lib.array_api_compat.common import _helpers

from srcgrad.rules.table import constant

for _home, _names in (
    (_array_api, "is_complex is_marray xp_default_dtype xp_result_device xp_result_type _length_nonmasked"),
    (_helpers, "device is_array_api_obj is_lazy_array is_numpy_array is_torch_array is_jax_array is_dask_array size"),
):
    for _name in _names.split():
        if hasattr(_home, _name):  # other versions know other questions
            constant(getattr(_home, _name))
