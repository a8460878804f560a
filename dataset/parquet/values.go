package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"
)

// Physical types.
const (
	boolean    = 0
	int32s     = 1
	int64s     = 2
	int96s     = 3
	floats     = 4
	doubles    = 5
	bytesKind  = 6
	fixedBytes = 7
)

// format says how values are written as texts.
type format struct {
	date     bool          // days since 1970
	unit     time.Duration // of times since 1970, 0 for none
	unsigned bool
	decimal  bool
	scale    int // digits behind the point of decimal numbers
}

// formatOf reads the logical type of a column.
func formatOf(e fields) format {
	f := format{scale: int(e.int(7))}
	if e.get(6) != nil {
		switch e.int(6) {
		case 5:
			f.decimal = true
		case 6:
			f.date = true
		case 9:
			f.unit = time.Millisecond
		case 10:
			f.unit = time.Microsecond
		case 11, 12, 13, 14:
			f.unsigned = true
		}
	}
	logical := e.fields(10)
	if d, ok := logical.get(5).(fields); ok {
		f.decimal, f.scale = true, int(d.int(1))
	}
	if logical.get(6) != nil {
		f.date = true
	}
	if t, ok := logical.get(8).(fields); ok {
		for id, unit := range map[int]time.Duration{1: time.Millisecond, 2: time.Microsecond, 3: time.Nanosecond} {
			if t.fields(2).get(id) != nil {
				f.unit = unit
			}
		}
	}
	return f
}

func (format) boolean(b bool) string { return strconv.FormatBool(b) }

// whole writes a whole number of some bits, or what it stands for.
func (f format) whole(x int64, bits int) string {
	switch {
	case f.date:
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(min(max(x, -1e7), 1e7))).Format(time.DateOnly)
	case f.unit > 0:
		per := int64(time.Second / f.unit)
		second, rest := x/per, x%per
		return time.Unix(second, rest*int64(f.unit)).UTC().Format("2006-01-02 15:04:05.999999999")
	case f.decimal:
		return f.point(big.NewInt(x))
	case f.unsigned && bits == 32:
		return strconv.FormatUint(uint64(uint32(x)), 10)
	case f.unsigned:
		return strconv.FormatUint(uint64(x), 10)
	}
	return strconv.FormatInt(x, 10)
}

// point writes a decimal number.
func (f format) point(x *big.Int) string {
	if f.scale <= 0 || f.scale > 100 {
		return x.String()
	}
	return new(big.Rat).SetFrac(x, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(f.scale)), nil)).FloatString(f.scale)
}

// size returns the number of bytes of a plain value, of texts that of their length, 0 for a type that has none.
func (c *column) size() int {
	switch c.kind {
	case int32s, floats, bytesKind:
		return 4
	case int64s, doubles:
		return 8
	case int96s:
		return 12
	case fixedBytes:
		return c.length
	}
	return 0
}

// cut returns the bytes of the plain value at the beginning of data, and what is behind it.
func (c *column) cut(data []byte) (value, rest []byte, err error) {
	n := c.size()
	if n == 0 {
		return nil, nil, fmt.Errorf("values of type %d", c.kind)
	}
	if c.kind == bytesKind && len(data) >= 4 {
		size := binary.LittleEndian.Uint32(data)
		if data = data[4:]; int64(size) > int64(len(data)) {
			return nil, nil, errBreaksOff
		}
		n = int(size)
	}
	if n > len(data) {
		return nil, nil, fmt.Errorf("the page ends too early: %d bytes are left, want %d", len(data), n)
	}
	return data[:n], data[n:], nil
}

// maxDecimal is the number of bytes of a decimal number, twice that of the largest that others write.
const maxDecimal = 64

// text writes the bytes of a value.
func (c *column) text(b []byte) (string, error) {
	order := binary.LittleEndian
	switch c.kind {
	case int32s:
		return c.format.whole(int64(int32(order.Uint32(b))), 32), nil
	case int64s:
		return c.format.whole(int64(order.Uint64(b)), 64), nil
	case int96s: // nanoseconds of a Julian day
		day := int64(order.Uint32(b[8:])) - 2440588
		return format{unit: time.Nanosecond}.whole(day*86400e9+int64(order.Uint64(b)), 64), nil
	case floats:
		return number(float64(math.Float32frombits(order.Uint32(b))), 32), nil
	case doubles:
		return number(math.Float64frombits(order.Uint64(b)), 64), nil
	}
	if c.format.decimal {
		if len(b) > maxDecimal {
			return "", fmt.Errorf("a decimal number of %d bytes, want %d at most", len(b), maxDecimal)
		}
		return c.format.point(signed(b)), nil
	}
	return string(b), nil
}

// plain reads a value in plain encoding.
func (c *chunk) plain() (string, error) {
	if c.kind == boolean {
		if c.bit/8 >= len(c.data) {
			return "", errBreaksOff
		}
		b := c.data[c.bit/8]>>(c.bit%8)&1 == 1
		c.bit++
		return c.format.boolean(b), nil
	}
	b, rest, err := c.cut(c.data)
	if err != nil {
		return "", err
	}
	c.data = rest
	return c.text(b)
}

// dictionary keeps the values of a dictionary as they stand in the file.
type dictionary struct {
	data  []byte
	size  int      // of a value
	start []uint32 // of texts, with their length before them, nil for values of one size
	n     int
}

// dictionaryOf reads the places of n plain values.
func (c *column) dictionaryOf(data []byte, n int64) (d dictionary, err error) {
	size := c.size()
	if size == 0 {
		return d, fmt.Errorf("a dictionary of values of type %d", c.kind)
	}
	if n < 0 || n > int64(len(data)/size) {
		return d, fmt.Errorf("%d values in a dictionary of %d bytes", n, len(data))
	}
	d = dictionary{data: data, size: size, n: int(n)}
	if c.kind != bytesKind {
		return d, nil
	}
	if int64(len(data)) > math.MaxUint32 {
		return d, fmt.Errorf("a dictionary of %d bytes", len(data))
	}
	d.start = make([]uint32, n)
	rest := data
	for i := range d.start {
		d.start[i] = uint32(len(data) - len(rest))
		if _, rest, err = c.cut(rest); err != nil {
			return d, err
		}
	}
	return d, nil
}

// value writes a value of a dictionary.
func (c *column) value(d *dictionary, i uint32) (string, error) {
	if int64(i) >= int64(d.n) {
		return "", fmt.Errorf("value %d of a dictionary with %d values", i, d.n)
	}
	at := int(i) * d.size
	if d.start != nil {
		at = int(d.start[i])
	}
	b, _, err := c.cut(d.data[at:])
	if err != nil {
		return "", err
	}
	return c.text(b)
}

// number writes a number, "" for one that is none.
func number(x float64, bits int) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, bits)
}

// signed returns the number of bytes in two's complement, the largest first.
func signed(b []byte) *big.Int {
	x := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}
