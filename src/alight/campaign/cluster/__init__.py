"""Shards on a Dask cluster: the executor, its workers, and what each of them does."""
