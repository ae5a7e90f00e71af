"""The twelve programs of GradBench (github.com/gradbench/gradbench), written in NumPy and differentiated by srcgrad.

``python -m benchmarks.gradbench`` is a tool in GradBench's sense: it reads messages from standard input and answers on
standard output, one JSON object per line.  ``python -m benchmarks.gradbench --table`` measures the programs instead.

There is one module per program, of the same name.  Its functions are those of the specification (``evals/*/README.md``
in that repository); ``FUNCTIONS`` says by what name they are asked for, how the input of a message becomes arguments,
and how a result becomes an output; ``sample(size)`` makes an input, of the size of the table or small for tests.
"""
