"""How fast the compiled gradients are: ``python -m benchmarks`` prints the table (see docs/benchmarks.md)."""

import os

for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # before anything here imports NumPy
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")  # JAX: one thread too
os.environ.setdefault("SRCGRAD_CACHE", "off")  # what is timed as compiling is that
