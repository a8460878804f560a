package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Version is the version of the format that this package writes, and the newest that it
// reads.
const Version = 2

// magic begins a model file. As in PNG, the first byte is no text, and the line ends and
// the end-of-file character betray a transfer that changed them.
const magic = "\x89MLG\r\n\x1a\n"

// Sizes of the parts of the header: magic, version, number of sections, length of the file;
// one entry for each section; checksum.
const (
	fixedSize = 24
	nameSize  = 40
	entrySize = nameSize + 8 + 8 + sha256.Size
)

// section is a named piece of a file.
type section struct {
	name string
	data []byte
}

// pad returns the number of bytes up to the next multiple of 8.
func pad(n int) int { return -n & 7 }

// pack writes sections as a file.
func pack(w io.Writer, sections []section) error {
	le := binary.LittleEndian
	at := fixedSize + len(sections)*entrySize + sha256.Size
	total := at
	for _, s := range sections {
		total += len(s.data) + pad(len(s.data))
	}
	head := append(make([]byte, 0, at), magic...)
	head = le.AppendUint32(head, Version)
	head = le.AppendUint32(head, uint32(len(sections)))
	head = le.AppendUint64(head, uint64(total))
	for _, s := range sections {
		var name [nameSize]byte
		if copy(name[:], s.name) < len(s.name) {
			panic("model: section name " + s.name + " is too long")
		}
		head = append(head, name[:]...)
		head = le.AppendUint64(head, uint64(at))
		head = le.AppendUint64(head, uint64(len(s.data)))
		sum := sha256.Sum256(s.data)
		head = append(head, sum[:]...)
		at += len(s.data) + pad(len(s.data))
	}
	sum := sha256.Sum256(head)
	if _, err := w.Write(append(head, sum[:]...)); err != nil {
		return err
	}
	for _, s := range sections {
		if _, err := w.Write(s.data); err != nil {
			return err
		}
		if _, err := w.Write(make([]byte, pad(len(s.data)))); err != nil {
			return err
		}
	}
	return nil
}

// checkMagic tells a model file by its first bytes.
func checkMagic(head []byte) error {
	switch {
	case len(head) == 0:
		return errors.New("the file is empty, want a model file")
	case bytes.HasPrefix(head, []byte(magic)):
		return nil
	case strings.HasPrefix(magic, string(head)):
		return errTruncated(len(head), fixedSize)
	case bytes.HasPrefix(head, []byte(magic[:4])), bytes.HasPrefix(head, []byte("\x09MLG")):
		return errors.New("the model file was changed in transfer, as if it were text: transfer it in binary mode")
	}
	return errors.New("not an mlg model file")
}

func errTruncated(have int, want uint64) error {
	return fmt.Errorf("the model file is truncated: %d bytes, want %d", have, want)
}

// unpack takes a file apart into sections, which are views of data. Every byte of the file
// is checked.
func unpack(data []byte) (map[string][]byte, error) {
	le := binary.LittleEndian
	if err := checkMagic(data[:min(len(data), len(magic))]); err != nil {
		return nil, err
	}
	if len(data) < fixedSize {
		return nil, errTruncated(len(data), fixedSize)
	}
	if v := le.Uint32(data[8:]); v > Version {
		return nil, fmt.Errorf("the model file has format version %d, this program reads up to %d: it was written by a newer version of mlg", v, Version)
	} else if v == 0 {
		return nil, errors.New("the model file is damaged: format version 0")
	}
	total := le.Uint64(data[16:])
	count := uint64(le.Uint32(data[12:]))
	size := fixedSize + count*entrySize
	if size+sha256.Size > uint64(len(data)) {
		return nil, errTruncated(len(data), max(total, size+sha256.Size))
	}
	if sha256.Sum256(data[:size]) != [sha256.Size]byte(data[size:]) {
		return nil, errors.New("the model file is damaged: its header does not match its checksum")
	}
	if uint64(len(data)) < total {
		return nil, errTruncated(len(data), total)
	}
	if uint64(len(data)) > total {
		return nil, fmt.Errorf("the model file has %d bytes, want %d: something was appended", len(data), total)
	}
	sections := make(map[string][]byte, count)
	at := size + sha256.Size
	for entry := data[fixedSize:size]; len(entry) > 0; entry = entry[entrySize:] {
		name, err := sectionName(entry[:nameSize])
		if err != nil {
			return nil, err
		}
		if _, ok := sections[name]; ok {
			return nil, fmt.Errorf("section %s is there twice", name)
		}
		offset, length := le.Uint64(entry[nameSize:]), le.Uint64(entry[nameSize+8:])
		if offset != at || length > total-at {
			return nil, fmt.Errorf("section %s: bytes %d and %d more, want it at %d and inside the %d bytes of the file", name, offset, length, at, total)
		}
		body := data[at : at+length : at+length]
		if sha256.Sum256(body) != [sha256.Size]byte(entry[nameSize+16:]) {
			return nil, fmt.Errorf("the model file is damaged: section %s does not match its checksum", name)
		}
		at += length
		for range pad(int(length)) {
			if at >= total || data[at] != 0 {
				return nil, fmt.Errorf("the model file is damaged: section %s is not filled up with zeros", name)
			}
			at++
		}
		sections[name] = body
	}
	if at != total {
		return nil, fmt.Errorf("the model file has %d bytes behind its last section", total-at)
	}
	return sections, nil
}

// sectionName reads a name that is filled up with zeros.
func sectionName(b []byte) (string, error) {
	name := strings.TrimRight(string(b), "\x00")
	for _, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '/' || c == '-') {
			return "", fmt.Errorf("section name %q, want lower-case letters, digits, / and -", name)
		}
	}
	if name == "" {
		return "", errors.New("a section without a name")
	}
	return name, nil
}
