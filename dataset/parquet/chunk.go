package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Kinds of pages.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPage2      = 3
)

// Encodings.
const (
	plain           = 0
	plainDictionary = 2
	runLength       = 3
	dictionaryCodes = 8
)

var encodings = map[int64]string{4: "bit packed", 5: "delta", 6: "delta length", 7: "delta bytes", 9: "byte stream split"}

// chunk reads the values of a column in a group of rows.
type chunk struct {
	column
	f       *File
	codec   int64
	at, end int64 // bytes of the file that are left
	rows    int64 // values that are left

	dictionary dictionary
	values     int64 // left in the page
	page       int64 // bytes that the page holds
	listed     int64 // bytes that the dictionary holds
	levels     *hybrid
	data       []byte  // plain values
	bits       *hybrid // booleans in runs
	codes      *hybrid // positions in the dictionary, nil for plain values
	bit        int     // of plain booleans
}

// chunk returns the reader of a column.
func (f *File) chunk(c column, meta fields, rows int64) (*chunk, error) {
	r := &chunk{column: c, f: f, codec: meta.int(4), at: meta.int(9), rows: rows}
	if d := meta.int(11); d > 0 && d < r.at {
		r.at = d
	}
	r.end = r.at + meta.int(7)
	if r.at < 4 || r.end < r.at || r.end > f.size {
		return nil, fmt.Errorf("bytes %d to %d, want them inside the file of %d bytes", r.at, r.end, f.size)
	}
	if kind := meta.int(1); kind != c.kind {
		return nil, fmt.Errorf("values of type %d, want %d as in the schema", kind, c.kind)
	}
	return r, nil
}

// next returns the next value.
func (c *chunk) next() (string, error) {
	if c.rows == 0 {
		return "", errors.New("fewer values than rows")
	}
	for c.values == 0 {
		if err := c.turn(); err != nil {
			return "", err
		}
	}
	c.rows--
	c.values--
	if c.levels != nil {
		present, err := c.levels.next()
		if err != nil || present == 0 {
			return "", err
		}
	}
	if c.codes != nil {
		i, err := c.codes.next()
		if err != nil {
			return "", err
		}
		return c.value(&c.dictionary, i)
	}
	if c.bits != nil {
		b, err := c.bits.next()
		return c.format.boolean(b == 1), err
	}
	return c.plain()
}

// header reads the header of the next page. Most are short: it reads few bytes, and more of them as long as the header
// ends too early.
func (c *chunk) header() (fields, error) {
	const first, most, step = 128, 1 << 20, 8 // bytes, statistics included
	for n := int64(first); ; n *= step {
		n = min(n, most, c.end-c.at)
		if int64(len(c.f.head)) < n {
			c.f.head = make([]byte, n)
		}
		raw := c.f.head[:n]
		if _, err := c.f.in.ReadAt(raw, c.at); err != nil {
			return nil, err
		}
		t := &thrift{b: raw, want: wantedPage}
		head, err := t.structure()
		if err == errBreaksOff && n < min(most, c.end-c.at) {
			continue
		}
		c.at += n - int64(len(t.b))
		return head, err
	}
}

// turn reads the next page.
func (c *chunk) turn() error {
	if c.at >= c.end {
		return errors.New("fewer values than rows")
	}
	head, err := c.header()
	if err != nil {
		return err
	}
	kind, size, full := head.int(1), head.int(3), head.int(2)
	switch lim := c.f.lim; {
	case size < 0 || size > c.end-c.at:
		return fmt.Errorf("a page of %d bytes, but only %d are left", size, c.end-c.at)
	case size > lim.Page:
		return fmt.Errorf("a page of %d bytes, the limit is %d", size, lim.Page)
	case full < 0 || full > lim.Page:
		return fmt.Errorf("a page of %d bytes after decompression, the limit is %d", full, lim.Page)
	}
	at := c.at
	c.at += size
	held := &c.page
	switch kind {
	case dictionaryPage:
		held = &c.listed
	case dataPage, dataPage2:
	default:
		return nil // an index
	}
	hold := size + full
	if held == &c.listed {
		hold += full // places of texts
	}
	if err := c.f.hold(held, hold); err != nil {
		return err
	}
	if err := c.f.grow(&c.f.unpacked, full); err != nil {
		return err
	}
	body := make([]byte, size)
	if _, err := c.f.in.ReadAt(body, at); err != nil {
		return err
	}
	switch kind {
	case dictionaryPage:
		return c.list(head.fields(7), body, full)
	case dataPage:
		return c.first(head.fields(5), body, full)
	}
	return c.second(head.fields(8), body, full)
}

// list reads the dictionary of the chunk.
func (c *chunk) list(head fields, body []byte, full int64) error {
	if c.kind == boolean {
		return errors.New("a dictionary of booleans")
	}
	data, err := c.unpack(body, full)
	if err != nil {
		return err
	}
	if e := head.int(2); e != plain && e != plainDictionary {
		return fmt.Errorf("a dictionary in encoding %d", e)
	}
	c.dictionary, err = c.dictionaryOf(data, head.int(1))
	return err
}

// first reads a data page of version 1: levels and values are compressed together.
func (c *chunk) first(head fields, body []byte, full int64) error {
	data, err := c.unpack(body, full)
	if err != nil {
		return err
	}
	c.values, c.levels = head.int(1), nil
	if c.optional {
		if e := head.int(3); e != runLength {
			return fmt.Errorf("levels in encoding %d, want runs", e)
		}
		if len(data) < 4 {
			return errBreaksOff
		}
		n := int64(binary.LittleEndian.Uint32(data))
		if n > int64(len(data)-4) {
			return errBreaksOff
		}
		c.levels = &hybrid{b: data[4 : 4+n], width: 1}
		data = data[4+n:]
	}
	return c.begin(head.int(2), data)
}

// second reads a data page of version 2: levels stand before the values and are not compressed.
func (c *chunk) second(head fields, body []byte, full int64) error {
	levels, repeats := head.int(5), head.int(6)
	most := min(int64(len(body)), full)
	if levels < 0 || levels > most || repeats < 0 || repeats > most-levels {
		return errBreaksOff
	}
	c.values, c.levels = head.int(1), nil
	if c.optional {
		c.levels = &hybrid{b: body[repeats : repeats+levels], width: 1}
	}
	data, full := body[levels+repeats:], full-levels-repeats
	if packed, given := head.get(7).(bool); packed || !given {
		var err error
		if data, err = c.unpack(data, full); err != nil {
			return err
		}
	}
	return c.begin(head.int(4), data)
}

// begin prepares the values of a page.
func (c *chunk) begin(encoding int64, data []byte) error {
	c.data, c.bit, c.codes, c.bits = data, 0, nil, nil
	if c.values < 0 || c.values > c.rows {
		return fmt.Errorf("%d values in a page, but only %d rows are left", c.values, c.rows)
	}
	switch encoding {
	case plain:
	case plainDictionary, dictionaryCodes:
		if len(data) == 0 { // no value in the page
			c.codes = &hybrid{}
			return nil
		}
		if data[0] > 32 {
			return fmt.Errorf("dictionary codes of %d bits", data[0])
		}
		c.codes = &hybrid{b: data[1:], width: uint(data[0])}
	case runLength:
		if c.kind != boolean || len(data) < 4 {
			return fmt.Errorf("values of type %d as runs", c.kind)
		}
		c.bits = &hybrid{b: data[4:], width: 1}
	default:
		name, known := encodings[encoding]
		if !known {
			name = fmt.Sprint(encoding)
		}
		return fmt.Errorf("values in the encoding %q, want plain or a dictionary: write the file with other options, or as CSV", name)
	}
	return nil
}

// Codecs.
const (
	uncompressed = 0
	snappyCodec  = 1
	gzipCodec    = 2
	zstdCodec    = 6
)

var codecs = map[int64]string{3: "LZO", 4: "Brotli", 5: "LZ4", 7: "LZ4"}

// unpack decompresses a page that has to have a number of bytes then.
func (c *chunk) unpack(b []byte, full int64) ([]byte, error) {
	var out []byte
	var err error
	switch c.codec {
	case uncompressed:
		out = b
	case snappyCodec:
		const most = 32 // bytes of one: 3 bytes of snappy are 64 at most
		var n int
		if n, err = snappy.DecodedLen(b); err == nil && int64(n) == full && n/most <= len(b) {
			out, err = snappy.Decode(nil, b)
		}
	case gzipCodec:
		z := &c.f.gzip
		if err = z.Reset(bytes.NewReader(b)); err == nil {
			out, err = io.ReadAll(io.LimitReader(z, full+1))
		}
	case zstdCodec:
		if c.f.zstd == nil {
			memory := zstd.WithDecoderMaxMemory(uint64(c.f.lim.Page) + 64<<20) // the window of a frame may be larger than a page
			if c.f.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), memory); err != nil {
				return nil, err
			}
		}
		if err = c.f.zstd.Reset(bytes.NewReader(b)); err == nil {
			out, err = io.ReadAll(io.LimitReader(c.f.zstd, full+1))
		}
	default:
		name, known := codecs[c.codec]
		if !known {
			name = fmt.Sprint(c.codec)
		}
		return nil, fmt.Errorf("compressed by %s, want snappy, gzip, zstd or nothing", name)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(out)) != full {
		return nil, fmt.Errorf("a page does not have the %d bytes that its header says", full)
	}
	return out, nil
}

// hybrid reads numbers of few bits in runs and packed groups of eight.
type hybrid struct {
	b     []byte
	width uint
	run   uint64 // equal numbers that are left
	value uint32
	group int // packed numbers that are left
	bit   uint64
}

func (h *hybrid) next() (uint32, error) {
	for h.run == 0 && h.group == 0 {
		if err := h.head(); err != nil {
			return 0, err
		}
	}
	if h.run > 0 {
		h.run--
		return h.value, nil
	}
	var x uint64
	for i := uint64(0); i < uint64(h.width); {
		at := (h.bit + i) / 8
		if at >= uint64(len(h.b)) {
			return 0, errBreaksOff
		}
		shift := (h.bit + i) % 8
		x |= uint64(h.b[at]>>shift) << i
		i += 8 - shift
	}
	h.bit += uint64(h.width)
	if h.group--; h.group == 0 {
		h.b, h.bit = h.b[min((h.bit+7)/8, uint64(len(h.b))):], 0
	}
	return uint32(x & (1<<h.width - 1)), nil
}

// head reads the head of a run or of packed groups.
func (h *hybrid) head() error {
	n, k := binary.Uvarint(h.b)
	if k <= 0 {
		return errBreaksOff
	}
	h.b = h.b[k:]
	if n&1 == 1 {
		if n>>1 > uint64(len(h.b))*8+8 {
			return errBreaksOff
		}
		h.group, h.bit = int(n>>1)*8, 0
		return nil
	}
	bytes := int(h.width+7) / 8
	if len(h.b) < bytes {
		return errBreaksOff
	}
	h.run, h.value = n>>1, 0
	for i := range bytes {
		h.value |= uint32(h.b[i]) << (8 * i)
	}
	h.b = h.b[bytes:]
	if h.run == 0 {
		return errors.New("an empty run of values")
	}
	return nil
}
