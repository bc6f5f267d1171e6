"""Speed and memory, measured; see `bench/run.py`."""
