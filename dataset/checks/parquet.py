"""Writes a table as Parquet in many ways, and as the texts that our reader has to make of it.

    python parquet.py FOLDER ROWS

makes FOLDER/*.parquet and FOLDER/want.json. `MLG_PARQUET=FOLDER go test ./dataset/parquet` compares them; without the
variable it reads dataset/parquet/testdata, which this script wrote with 40 rows. Needs pyarrow.
"""

import datetime
import decimal
import json
import pathlib
import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq


def table(n):
    some = random.Random(1)
    start = datetime.datetime(2000, 1, 1)
    maybe = lambda x: None if some.random() < 0.2 else x
    columns = {
        "smiles": pa.array(["C" * (1 + i % 20) + some.choice(["O", "N", "Cl", ""]) for i in range(n)]),
        "double": pa.array([maybe(some.gauss(0, 1)) for _ in range(n)], pa.float64()),
        "float": pa.array([maybe(i / 4) for i in range(n)], pa.float32()),
        "long": pa.array([maybe(i - 10**12) for i in range(n)], pa.int64()),
        "byte": pa.array([i % 100 - 50 for i in range(n)], pa.int8()),
        "unsigned": pa.array([2**32 - 1 - i for i in range(n)], pa.uint32()),
        "boolean": pa.array([maybe(i % 3 == 0) for i in range(n)], pa.bool_()),
        "date": pa.array([maybe((start + datetime.timedelta(days=i - 20000)).date()) for i in range(n)]),
        "time": pa.array([start + datetime.timedelta(seconds=1.5 * i) for i in range(n)], pa.timestamp("us")),
        "decimal": pa.array([maybe(decimal.Decimal(i - 20) / 100) for i in range(n)], pa.decimal128(10, 2)),
        "class": pa.array([some.choice(["a", "b", None]) for _ in range(n)]).dictionary_encode(),
        "list": pa.array([[i] for i in range(n)]),
        "empty": pa.array([None] * n, pa.string()),
        "nan": pa.array([float("nan") if i % 2 else 1.0 for i in range(n)]),
    }
    fields = [pa.field(k, v.type, nullable=v.null_count > 0) for k, v in columns.items()]
    return pa.table(list(columns.values()), schema=pa.schema(fields))


def text(x):
    if x is None or x != x:
        return ""
    if isinstance(x, bool):
        return str(x).lower()
    if isinstance(x, datetime.datetime):
        return x.isoformat(" ").rstrip("0").rstrip(".") if x.microsecond else x.isoformat(" ")
    return str(x)


def main(folder, rows):
    folder = pathlib.Path(folder)
    t = table(int(rows))
    for codec in ("none", "snappy", "gzip", "zstd"):
        for version in ("1.0", "2.0"):
            for dictionary in (True, False):
                name = f"{codec}-{version[0]}-{'dictionary' if dictionary else 'plain'}.parquet"
                pq.write_table(t, folder / name, compression=codec, data_page_version=version, use_dictionary=dictionary,
                               row_group_size=max(1, len(t) * 2 // 5), data_page_size=2000, store_schema=False)
    kept = t.drop_columns(["list"])
    want = [kept.column_names] + [[text(v) for v in row.values()] for row in kept.to_pylist()]
    (folder / "want.json").write_text(json.dumps(want) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
