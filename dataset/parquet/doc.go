// Package parquet reads flat tables from Parquet files, row after row, as texts.
//
// It reads the columns of data frames: booleans, numbers, texts, dates and times. Values may be
// missing. Encodings are plain and dictionary. Data may be compressed by snappy, gzip or zstd. It
// leaves out lists and nested columns. It refuses other encodings by name.
package parquet
