"""Ways to share one NVIDIA card that are not MIG: MPS, time slices, and vGPU."""
