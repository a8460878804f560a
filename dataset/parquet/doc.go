// Package parquet reads flat tables from Parquet files, row after row, as texts.
//
// It reads what data frames are written as: columns of booleans, numbers, texts, dates and times that may be missing, in
// plain and dictionary encoding, uncompressed or by snappy, gzip or zstd. Lists and nested columns are left out. Other
// encodings are refused by name.
package parquet
