"""Datasets: read files, download collections, the built-in ones, and random graphs."""

from .base import BUILTIN, Dataset, fetch, fetch_dataset, get_dataset_info, load, read_data
from .tables import from_table
from .testing import generate_dataset

__all__ = [
    "BUILTIN",
    "Dataset",
    "fetch",
    "fetch_dataset",
    "from_table",
    "generate_dataset",
    "get_dataset_info",
    "load",
    "read_data",
]
