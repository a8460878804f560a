package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
)

// A container is a head and named sections, each with a checksum; docs/reference/container-format.md describes
// it to the byte. As in PNG, the first byte is no text, and the line ends and the end-of-file
// character of the magic betray a transfer that changed them.
const (
	magic    = "\x89MLG\r\n\x1a\n"
	headSize = 64
	endName  = "end"
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// Section is a named piece of a container.
type Section struct {
	Name string
	Data []byte

	head []byte // as in the file; nil for one that was not read
}

// padding returns the number of bytes up to the next multiple of 64.
func padding(n int) int { return -n & (headSize - 1) }

// checksum returns the CRC of a head whose checksum is at the given place, and data.
func checksum(head []byte, at int, data []byte) uint32 {
	sum := crc32.Checksum(head[:at], crcTable)
	sum = crc32.Update(sum, crcTable, make([]byte, 4))
	sum = crc32.Update(sum, crcTable, head[at+4:])
	return crc32.Update(sum, crcTable, data)
}

func encodeHead(kind string, version int) []byte {
	head := make([]byte, headSize)
	copy(head, magic)
	if copy(head[8:16], kind) < len(kind) {
		panic("file: kind " + kind + " is too long")
	}
	binary.LittleEndian.PutUint32(head[16:], uint32(version))
	binary.LittleEndian.PutUint32(head[20:], checksum(head, 20, nil))
	return head
}

// encode returns the head of the section.
func (s Section) encode() []byte {
	head := make([]byte, headSize)
	if copy(head[16:], s.Name) < len(s.Name) {
		panic("file: section name " + s.Name + " is too long")
	}
	binary.LittleEndian.PutUint64(head, uint64(len(s.Data)))
	binary.LittleEndian.PutUint32(head[8:], checksum(head, 8, s.Data))
	return head
}

// Check returns an error if the data of a section that was read do not match their checksum.
func (s Section) Check() error {
	if s.head != nil && binary.LittleEndian.Uint32(s.head[8:]) != checksum(s.head, 8, s.Data) {
		return fmt.Errorf("damaged: section %s does not match its checksum", s.Name)
	}
	return nil
}

// writer writes a container.
type writer struct {
	w        io.Writer
	length   int64
	sections int
}

func (w *writer) write(b []byte) error {
	n, err := w.w.Write(b)
	w.length += int64(n)
	return err
}

func (w *writer) section(s Section) error {
	if err := w.write(s.encode()); err != nil {
		return err
	}
	if err := w.write(s.Data); err != nil {
		return err
	}
	w.sections++
	return w.write(make([]byte, padding(len(s.Data))))
}

func (w *writer) end() error {
	data := binary.LittleEndian.AppendUint64(nil, uint64(w.sections))
	data = binary.LittleEndian.AppendUint64(data, uint64(w.length+2*headSize))
	return w.section(Section{Name: endName, Data: data})
}

// Encode writes a container. Equal sections give equal bytes.
func Encode(to io.Writer, kind string, version int, sections []Section) error {
	w := &writer{w: to}
	if err := w.write(encodeHead(kind, version)); err != nil {
		return err
	}
	for _, s := range sections {
		if err := w.section(s); err != nil {
			return err
		}
	}
	return w.end()
}

// kindOf returns the kind of container that the first bytes of a file say, "" if it is none.
func kindOf(head []byte) string {
	if len(head) < headSize || !bytes.HasPrefix(head, []byte(magic)) {
		return ""
	}
	return strings.TrimRight(string(head[8:16]), "\x00")
}

// KindOf returns the kind of container that a file is, "" if it is none.
func KindOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, headSize)
	if _, err := io.ReadFull(f, head); err != nil {
		return ""
	}
	return kindOf(head)
}

// ErrVersion is the error (by errors.Is) of a container in another version of its format.
var ErrVersion = errors.New("another version of mlg")

// Decode takes a container of the given kind and version apart into sections, which are views of
// data. Lengths and heads are checked; Check of each section checks its data. Where the container
// ends too early or is damaged, the error comes with the sections before that.
func Decode(data []byte, kind string, version int) ([]Section, error) {
	if err := checkHead(data, kind, version); err != nil {
		return nil, err
	}
	sections, rest, err := walk(data[headSize:])
	if err != nil {
		return sections, fmt.Errorf("the %s file is %w", kind, err)
	}
	last := len(sections) - 1
	if last < 0 || sections[last].Name != endName {
		return sections, fmt.Errorf("the %s file ends too early, after %d bytes", kind, len(data)-len(rest))
	}
	end := sections[last]
	sections = sections[:last]
	if err := end.Check(); err != nil {
		return sections, fmt.Errorf("the %s file is %w", kind, err)
	}
	if len(end.Data) != 16 || binary.LittleEndian.Uint64(end.Data) != uint64(last) || binary.LittleEndian.Uint64(end.Data[8:]) != uint64(len(data)-len(rest)) {
		return sections, fmt.Errorf("the %s file is damaged: its end does not match what is before it", kind)
	}
	if len(rest) > 0 {
		return sections, fmt.Errorf("the %s file has %d bytes after its end: something was appended", kind, len(rest))
	}
	seen := map[string]bool{}
	for i, s := range sections {
		if seen[s.Name] {
			return sections[:i], fmt.Errorf("the %s file is damaged: section %s is there twice", kind, s.Name)
		}
		seen[s.Name] = true
	}
	return sections, nil
}

// checkHead returns an error unless data begin with the head of a container.
func checkHead(data []byte, kind string, version int) error {
	switch {
	case len(data) == 0:
		return fmt.Errorf("the file is empty, want an mlg %s file", kind)
	case strings.HasPrefix(magic, string(data[:min(len(data), len(magic))])):
	case bytes.HasPrefix(data, []byte(magic[:4])), bytes.HasPrefix(data, []byte("\x09MLG")):
		return fmt.Errorf("the %s file was changed in transfer, because it was sent as text: send it in binary mode", kind)
	default:
		return fmt.Errorf("not an mlg %s file", kind)
	}
	if len(data) < headSize {
		return fmt.Errorf("the %s file ends too early, after %d bytes", kind, len(data))
	}
	if binary.LittleEndian.Uint32(data[20:]) != checksum(data[:headSize], 20, nil) {
		return fmt.Errorf("the %s file is damaged: its head does not match its checksum", kind)
	}
	if k := kindOf(data); k != kind {
		return fmt.Errorf("the file is of the kind %q, want a %s file", k, kind)
	}
	if v := int(binary.LittleEndian.Uint32(data[16:])); v != version {
		return fmt.Errorf("the %s file has format version %d, this program reads %d: it was written by %w", kind, v, version, ErrVersion)
	}
	return nil
}

// walk returns the sections that follow each other and what is behind the last whole one. It is
// an error if something that is no section follows.
func walk(data []byte) (sections []Section, rest []byte, err error) {
	for len(data) >= headSize {
		head := data[:headSize:headSize]
		name := strings.TrimRight(string(head[16:]), "\x00")
		if !validName(name) {
			return sections, data, fmt.Errorf("damaged: %q is not the name of a section, after %d good sections", name, len(sections))
		}
		length := binary.LittleEndian.Uint64(head)
		if length > uint64(len(data)-headSize) {
			break
		}
		size := headSize + int(length)
		if size+padding(size) > len(data) {
			break
		}
		for _, b := range data[size : size+padding(size)] {
			if b != 0 {
				return sections, data, fmt.Errorf("damaged: section %s is not filled up with zeros", name)
			}
		}
		sections = append(sections, Section{name, data[headSize:size:size], head})
		data = data[size+padding(size):]
		if name == endName {
			break
		}
	}
	return sections, data, nil
}

// validName reports whether a section may have a name.
func validName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789/-") == ""
}

// log is a container that is written section by section. It is called PATH.part until it is
// complete; after an interruption of whatever kind, Resume goes on behind its last good section.
type log struct {
	writer
	file *File
	old  *Mapped // what was there
}

// Resume opens the log of a container with the given first section, which identifies its content.
// It returns the good sections after it that an interrupted run has left. They are valid until the
// log is closed. A log with another first section is an error, and so is one that another process
// is writing.
func Resume(path, kind string, version int, first Section) (l *log, kept []Section, err error) {
	f, err := CreatePart(path)
	if err != nil {
		return nil, nil, err
	}
	l = &log{writer: writer{w: f}, file: f, old: &Mapped{}}
	if kept, err = l.resume(kind, version, first); err != nil {
		l.Close()
		return nil, nil, err
	}
	return l, kept, nil
}

func (l *log) resume(kind string, version int, first Section) (kept []Section, err error) {
	if l.old, err = Map(l.file.Name()); err != nil {
		return nil, err
	}
	err = l.old.Guard(func() (err error) { kept, err = l.takeUp(kind, version, first); return err })
	return kept, err
}

// takeUp is resume once the file is mapped.
func (l *log) takeUp(kind string, version int, first Section) (kept []Section, err error) {
	data := l.old.Bytes()
	var begin bytes.Buffer
	head := &writer{w: &begin}
	head.write(encodeHead(kind, version))
	head.section(first)
	switch {
	case bytes.HasPrefix(data, begin.Bytes()):
		l.length, l.sections = head.length, 1
		all, _, _ := walk(data[begin.Len():]) // what is behind the last good section is dropped
		for _, s := range all {
			if s.Name == endName || s.Check() != nil {
				break
			}
			kept = append(kept, s)
			l.length += int64(headSize + len(s.Data) + padding(len(s.Data)))
			l.sections++
		}
	case bytes.HasPrefix(begin.Bytes(), data): // new, or interrupted before the first section
	case kindOf(data) == kind:
		return nil, fmt.Errorf("%s is of another %s; delete it to start again", l.file.Name(), first.Name)
	default:
		return nil, fmt.Errorf("%s is not an unfinished %s file; delete it, or choose another name", l.file.Name(), kind)
	}
	if err := l.file.Truncate(l.length); err != nil {
		return nil, err
	}
	if _, err := l.file.Seek(l.length, io.SeekStart); err != nil {
		return nil, err
	}
	if l.length == 0 {
		l.sections = 1
		err = l.write(begin.Bytes())
	}
	return kept, err
}

// Append writes a section. A killed process loses nothing that was appended. A machine that fails
// may lose some, and Resume finds that by the checksums.
func (l *log) Append(name string, data []byte) error {
	return l.section(Section{Name: name, Data: data})
}

// Commit completes the container and gives it its name.
func (l *log) Commit() error {
	if err := l.end(); err != nil {
		return err
	}
	if err := errors.Join(l.old.Close(), l.file.finish()); err != nil {
		return err
	}
	return l.file.publish()
}

// Close ends writing; the log stays, to be resumed.
func (l *log) Close() error { return errors.Join(l.old.Close(), l.file.Close()) }
