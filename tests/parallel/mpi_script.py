"""What ``test_mpi`` runs under ``mpiexec -n N python -m mpi4py.futures``: the same bits, and an error of a worker."""

from __future__ import annotations

from mpi4py.futures import MPIPoolExecutor

from srcgrad.parallel import ShardError, grad, report
from tests.parallel.losses import only_positive, shards_of
from tests.parallel.test_same_bits import W, everything, serial


def main() -> None:
    with MPIPoolExecutor() as pool:
        workers = pool.num_workers
        same = everything(pool) == serial()
        computed = len(report().environments)
        try:
            grad(only_positive, executor=pool)(W, shards_of(9))
            text = "nothing was raised"
        except ShardError as error:
            text = error.reason
    print(workers, same, 1 <= computed <= workers, text)


if __name__ == "__main__":
    main()
