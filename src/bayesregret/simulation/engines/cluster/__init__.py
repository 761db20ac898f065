"""The workers of a Dask cluster as an engine; nothing here imports Dask before a cluster is used."""
