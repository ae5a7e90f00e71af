"""``python -m tests.installed.choosing``: how the functions of ``more.py`` were chosen, before any was differentiated.

The rule: of each package below, the public functions of the modules named that are written in Python and defined there,
in the order of modules and then of the alphabet.  One counts if it takes and gives floating-point numbers: called with
one of the argument lists of ``forms``, tried in their order, it returns numbers, and at least one argument changes them
smoothly (central differences with two steps agree).  Its first parameters are given, as long as they have no default or
a floating-point number for one.  Of the n that count, every k-th is taken, k = max(1, n // 5), five at most.
"""

from __future__ import annotations

import importlib
import inspect
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

import numpy as np

from tests.installed.forms import FORMS, arguments

#: Modules with numbers in and numbers out, by package.
MODULES = """
arch: arch.univariate.recursions_python arch.unitroot.critical_values.dickey_fuller arch.covariance.kernel
    arch.utility.array arch.bootstrap.base
astropy: astropy.stats.funcs astropy.stats.circstats astropy.coordinates.matrix_utilities
    astropy.timeseries.periodograms.lombscargle._statistics astropy.stats.biweight astropy.stats.jackknife
chemicals: chemicals.vapor_pressure chemicals.volume chemicals.viscosity chemicals.heat_capacity chemicals.virial
colour: colour.models.cie_lab colour.models.cie_luv colour.models.rgb.transfer_functions.srgb colour.temperature.cie_d
    colour.models.cie_xyy colour.models.hunter_lab colour.difference.delta_e colour.algebra.common
control: control.ctrlutil control.mateqn control.modelsimp control.canonical control.sysnorm
deap: deap.benchmarks
dynesty: dynesty.utils dynesty.bounding
empyrical: empyrical.stats
filterpy: filterpy.stats.stats filterpy.common.discretization filterpy.common.kinematic filterpy.kalman.UKF
fluids: fluids.friction fluids.drag fluids.core fluids.fittings fluids.two_phase fluids.geometry
gstools: gstools.tools.special gstools.tools.geometric gstools.transform.array gstools.normalizer.tools
hmmlearn: hmmlearn.utils hmmlearn.stats hmmlearn._utils
ht: ht.conv_internal ht.conv_external ht.boiling_nucleic ht.radiation ht.hx ht.core
librosa: librosa.core.convert librosa.util.utils librosa.core.spectrum librosa.core.harmonic
lmfit: lmfit.lineshapes lmfit.printfuncs lmfit.models
metpy: metpy.calc.basic metpy.calc.tools metpy.calc.thermo metpy.interpolate.tools
numpy_financial: numpy_financial._financial
pandas: pandas.core.nanops pandas.core.algorithms pandas.core.missing pandas.core.array_algos.masked_reductions
pvlib: pvlib.irradiance pvlib.atmosphere pvlib.iam pvlib.temperature pvlib.singlediode pvlib.tools
pymap3d: pymap3d.ecef pymap3d.enu pymap3d.aer pymap3d.haversine pymap3d.latitude pymap3d.rcurve pymap3d.spherical
SALib: SALib.test_functions.Ishigami SALib.test_functions.Sobol_G SALib.test_functions.lake_problem
    SALib.test_functions.oakley2004 SALib.util
scikit-fuzzy: skfuzzy.membership.generatemf skfuzzy.fuzzymath.fuzzy_ops skfuzzy.defuzzify.defuzz
scikit-image: skimage.metrics.simple_metrics skimage.color.colorconv skimage.filters._gaussian skimage.util._invert
    skimage.exposure.exposure
seaborn: seaborn.algorithms seaborn.utils seaborn._statistics
sgp4: sgp4.functions sgp4.ext sgp4.propagation sgp4.model
skyfield: skyfield.functions skyfield.relativity skyfield.earthlib skyfield.geometry skyfield.keplerlib
spectrum: spectrum.window spectrum.tools spectrum.linear_prediction spectrum.levinson spectrum.toeplitz
statsmodels: statsmodels.tools.eval_measures statsmodels.robust.scale statsmodels.stats.moment_helpers
    statsmodels.stats.stattools statsmodels.tsa.tsatools
transforms3d: transforms3d.quaternions transforms3d.euler transforms3d.axangles transforms3d.shears
    transforms3d.affines transforms3d.reflections
trimesh: trimesh.transformations trimesh.geometry trimesh.triangles trimesh.util
"""
SECONDS = 5


class _Slow(BaseException):
    """Past what a function may take; nothing that it catches."""


def packages() -> dict[str, list[str]]:
    """The modules of ``MODULES``, by package."""
    found: dict[str, list[str]] = {}
    for word in MODULES.split():
        if word.endswith(":"):
            modules = found.setdefault(word[:-1], [])
        else:
            modules.append(word)
    return found


def functions(module: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions that a module defines in Python, by the alphabet."""
    held = vars(importlib.import_module(module))
    for name in sorted(held):
        found = held[name]
        if not name.startswith("_") and inspect.isfunction(found) and found.__module__ == module:
            yield name, found


def form_of(function: Callable[..., Any]) -> tuple[str, int, tuple[int, ...]] | None:
    """The first form of arguments that counts, for how many, and the positions that move the result."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return None
    if any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters):
        return None
    given = [*takewhile(_is_given, parameters)]
    for form in FORMS if 1 <= len(given) <= 9 else ():
        moved = [place for place in range(len(given)) if _moves(function, form, len(given), place)]
        if moved:
            return form, len(given), tuple(moved)
    return None


def _is_given(parameter: inspect.Parameter) -> bool:
    """Whether a positional parameter has no default, or a floating-point number for one."""
    positional = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    return positional and (parameter.default is parameter.empty or isinstance(parameter.default, float))


def _moves(function: Callable[..., Any], form: str, count: int, place: int) -> bool:
    """Whether the result is made of floating-point numbers and changes smoothly with one argument."""

    def along(step: float) -> np.ndarray | None:
        given = list(arguments(form, count))
        given[place] = given[place] * (1.0 + step)
        return _numbers(function(*given))

    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            at = along(0.0)
            if at is None or not at.size or not np.all(np.isfinite(at)):
                return False
            slopes = [(along(h) - along(-h)) / (2.0 * h) for h in (1e-4, 3e-5)]  # type: ignore[operator]
    except (Exception, _Slow):
        return False
    finally:
        signal.alarm(0)
    size = float(np.max(np.abs(slopes[0])))
    return bool(size > 0.0) and bool(np.max(np.abs(slopes[0] - slopes[1])) < 1e-4 * size)


def _numbers(result: Any) -> np.ndarray | None:
    """The numbers of a result, flat; None where it holds anything else."""
    if isinstance(result, tuple | list):
        parts = [_numbers(item) for item in result]
        return None if not parts or any(part is None for part in parts) else np.concatenate(parts)  # type: ignore[arg-type]
    if type(result) is np.ndarray or isinstance(result, float | np.floating):
        flat = np.ravel(result)
        return flat if flat.dtype.kind == "f" else None
    return None


def main() -> None:
    """Print the rows of ``more.py``."""
    sys.setrecursionlimit(2000)

    def slow(*ignored: object) -> None:
        raise _Slow

    signal.signal(signal.SIGALRM, slow)
    for package, modules in packages().items():
        if sys.argv[1:] and package not in sys.argv[1:]:
            continue
        counted = []
        for module in modules:
            try:
                listed = list(functions(module))
            except ImportError as error:
                print(f"{module}: {error}", file=sys.stderr)
                continue
            for name, function in listed:
                with open(os.devnull, "w") as nothing:
                    before, sys.stdout = sys.stdout, nothing
                    try:
                        found = form_of(function)
                    finally:
                        sys.stdout = before
                if found is not None:
                    counted.append((module, name, *found))
        step = max(1, len(counted) // 5)
        for module, name, form, count, moved in counted[::step][:5]:
            print(f"{module} {name} | {form} | {count} | {','.join(map(str, moved))}", flush=True)
        print(f"{package}: {len(counted)} count", file=sys.stderr)


if __name__ == "__main__":
    main()
