package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/learn"
)

// sumsKind and SumsVersion of the container (package file) that Sums are.
const (
	sumsKind    = "sums"
	sumsVersion = 1
)

// sumsJSON is the section "meta" of sums.
type sumsJSON struct {
	learn.Frame
	Told
}

// encode writes sums in the format of their file. Equal sums give equal bytes.
func (s *Sums) encode(w io.Writer) error {
	meta, err := json.Marshal(sumsJSON{s.Frame, s.Told})
	if err != nil {
		return fmt.Errorf("sums: %w", err)
	}
	list := []file.Section{{Name: "meta", Data: meta}}
	for f := range s.Folds {
		list = append(list, file.Section{Name: foldName(f), Data: s.Fold(f)})
	}
	return file.Encode(w, sumsKind, sumsVersion, list)
}

func foldName(f int) string { return fmt.Sprintf("fold/%d", f+1) }

// WriteSums writes a file of sums. It is there whole or not at all.
func WriteSums(ctx context.Context, path string, s *Sums) error {
	return file.Write(ctx, path, s.encode)
}

// ReadSums reads a file of sums.
func ReadSums(path string) (s *Sums, err error) {
	f, err := file.Map(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Guard(func() (err error) { s, err = decodeSums(f.Bytes()); return err }); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// decodeSums returns the sums in the bytes of their file, which it does not keep.
func decodeSums(data []byte) (*Sums, error) {
	list, err := file.Decode(data, sumsKind, sumsVersion)
	if err != nil {
		return nil, err
	}
	sections := map[string][]byte{}
	for _, section := range list {
		if err := section.Check(); err != nil {
			return nil, fmt.Errorf("the sums file is %w", err)
		}
		sections[section.Name] = section.Data
	}
	var meta sumsJSON
	if err := bounded("meta", sections["meta"]); err != nil {
		return nil, fmt.Errorf("sums file: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(sections["meta"]))
	if err := d.Decode(&meta); err != nil {
		return nil, fmt.Errorf("sums file: section meta: %w", err)
	}
	if err := meta.Validate(); err != nil {
		return nil, fmt.Errorf("sums file: %w", err)
	}
	if meta.Untargeted < 0 || meta.Shard < 0 || meta.Shard > meta.Shards || len(list) != 1+meta.Folds {
		return nil, fmt.Errorf("sums file: %d sections for %d folds, %d graphs without a target, and shard %d of %d", len(list), meta.Folds, meta.Untargeted, meta.Shard, meta.Shards)
	}
	if len(meta.Seen) != (meta.Centres+7)/8 {
		return nil, fmt.Errorf("sums file: %d bytes for what is seen of %d training graphs", len(meta.Seen), meta.Centres)
	}
	var folds [][]byte
	for f := range meta.Folds {
		folds = append(folds, sections[foldName(f)])
	}
	sums, err := learn.DecodeSums(meta.Frame, folds)
	if err != nil {
		return nil, fmt.Errorf("sums file: %w", err)
	}
	return &Sums{sums, meta.Told}, nil
}
