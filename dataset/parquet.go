package dataset

import (
	"bytes"
	"fmt"
	"io"

	"github.com/mlgkernel/mlg/dataset/parquet"
)

// readParquet reads a table that is kept as columns. From a stream, whose end describes it, it is held in memory as a whole,
// and from a file a page of each column at a time.
func readParquet(s *stream) (nextGraph, error) {
	in, size := s.file, s.size
	if in == nil {
		whole, err := io.ReadAll(io.LimitReader(s.in, s.opts.Limits.Bytes+1))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, broken(err))
		}
		if int64(len(whole)) > s.opts.Limits.Bytes {
			return nil, fmt.Errorf("%s: more than %d bytes, which is the limit", s.name, s.opts.Limits.Bytes)
		}
		in, size = bytes.NewReader(whole), int64(len(whole))
	}
	lim := s.opts.Limits
	f, err := parquet.Open(in, size, parquet.Limits{
		Rows: lim.Items, Page: int64(lim.Record), Bytes: lim.Bytes, Ratio: int64(lim.Ratio),
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	s.warn.add(len(f.Ignored), "nested column ignored", "nested columns ignored")
	names := columnNames(f.Names)
	keep := s.columns(names)
	f.Select(keep)
	names = pick(names, keep)
	row := 0
	return readRecords(s, "column", names, func() (record, error) {
		row++
		values, err := f.Next()
		if err != nil {
			if err != io.EOF {
				err = s.at(row, err)
			}
			return record{}, err
		}
		return record{line: row, names: names, values: pick(values, keep)}, nil
	})
}
