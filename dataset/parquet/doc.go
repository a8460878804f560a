// Package parquet reads flat tables from Parquet files, row after row, as texts.
//
// It reads the columns that data frames are written as: booleans, numbers, texts, dates and times,
// each of which may be missing, in plain and dictionary encoding, uncompressed or compressed by
// snappy, gzip or zstd. It leaves out lists and nested columns. It refuses other encodings by name.
package parquet
