package file

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes a value as a container with one section of JSON: the file is there whole or not at all.
func WriteJSON(ctx context.Context, path, kind string, version int, x any) error {
	text, err := json.Marshal(x)
	if err != nil {
		return err
	}
	return Write(ctx, path, func(w io.Writer) error {
		return Encode(w, kind, version, []Section{{Name: "results", Data: text}})
	})
}

// DecodeJSON reads the content of a file of WriteJSON.
func DecodeJSON(b []byte, kind string, version int, x any) error {
	sections, err := Decode(b, kind, version)
	if err != nil {
		return err
	}
	if len(sections) != 1 {
		return fmt.Errorf("%d sections, want 1", len(sections))
	}
	if err := sections[0].Check(); err != nil {
		return err
	}
	return json.Unmarshal(sections[0].Data, x)
}
