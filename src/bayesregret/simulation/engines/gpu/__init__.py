"""The GPU engine: the formulas and kernels of the processors, compiled for CUDA, with the same bits."""
