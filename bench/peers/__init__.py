"""The benchmark behind `bench/versus`: gpfuse beside NumPyro and nutpie, in one run."""
