package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/mlgkernel/mlg/graph"
)

// Pass goes over one record, as Try does, without looking at it where that is possible: where a line is a graph, and in
// tables. A record that cannot be read is then not noticed.
func (r *Reader) Pass() error {
	if r.in.pass == nil {
		_, err := r.Try()
		return err
	}
	if r.err == nil {
		r.err = r.in.pass()
	}
	return r.err
}

// Digest returns the SHA-256 of the records that are read from now on, and of those that Pass goes over: of what they say,
// not of how the file is compressed. It is the same for the same records in the same order.
func (r *Reader) Digest() hash.Hash {
	r.in.digest = &digest{sha256.New(), nil}
	return r.in.digest.h
}

// digest hashes records. A nil digest does nothing.
type digest struct {
	h   hash.Hash
	buf []byte
}

// add adds the texts of a record.
func (d *digest) add(texts ...string) {
	if d == nil {
		return
	}
	d.buf = binary.AppendUvarint(d.buf[:0], uint64(len(texts)))
	for _, t := range texts {
		d.buf = append(binary.AppendUvarint(d.buf, uint64(len(t))), t...)
	}
	d.h.Write(d.buf) // never an error
}

// addGraph adds the graph of a record, nil for one that cannot be read.
func (d *digest) addGraph(g *graph.Graph) {
	switch {
	case d == nil:
	case g == nil:
		d.add()
	default:
		d.add(g.ID(), g.Target(), string(binary.LittleEndian.AppendUint64(nil, g.Hash())))
	}
}
