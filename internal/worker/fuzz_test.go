package worker

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// The worker answers whatever frames come, or ends with an error.
func FuzzServe(f *testing.F) {
	frame := func(header string, body []byte) []byte {
		b, err := binary.Append(nil, binary.LittleEndian, frameSize{uint32(len(header)), uint64(len(body))})
		if err != nil {
			f.Fatal(err)
		}
		return append(append(b, header...), body...)
	}
	for _, header := range []string{`{"op":"hello"}`, `{"op":"smiles","args":{"text":["CCO","C"]}}`, `{"op":"fit","args":{"kernel":"wl"}}`,
		`{"op":"cross","handle":1}`, `{"op":"draw"}`, `{"release":[1],"file":"x"}`} {
		f.Add(frame(header, nil), []byte{})
		f.Add(frame(header, make([]byte, 40)), frame(header, nil))
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		for _, word := range []string{"path", "fetch", "load"} { // the parent may name any file, and any server
			if bytes.Contains(one, []byte(word)) || bytes.Contains(two, []byte(word)) {
				return
			}
		}
		var out bytes.Buffer
		Serve(t.Context(), bytes.NewReader(append(bytes.Clone(one), two...)), &out, t.TempDir())
	})
}
