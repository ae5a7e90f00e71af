"""Program transformations: a normal form in, the statements of its adjoint or tangent program out."""
