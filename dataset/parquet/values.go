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
	if _, given := e[6]; given {
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
	if d, ok := logical[5].(fields); ok {
		f.decimal, f.scale = true, int(d.int(1))
	}
	if _, ok := logical[6]; ok {
		f.date = true
	}
	if t, ok := logical[8].(fields); ok {
		for id, unit := range map[int]time.Duration{1: time.Millisecond, 2: time.Microsecond, 3: time.Nanosecond} {
			if _, ok := t.fields(2)[id]; ok {
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

// plain reads a value in plain encoding.
func (c *chunk) plain() (string, error) {
	take := func(n int) ([]byte, error) {
		if n > len(c.data) {
			return nil, fmt.Errorf("the page breaks off: %d bytes are left, want %d", len(c.data), n)
		}
		x := c.data[:n]
		c.data = c.data[n:]
		return x, nil
	}
	size := map[int64]int{int32s: 4, int64s: 8, int96s: 12, floats: 4, doubles: 8, bytesKind: 4, fixedBytes: c.length}
	if c.kind == boolean {
		if c.bit/8 >= len(c.data) {
			return "", errBreaksOff
		}
		b := c.data[c.bit/8]>>(c.bit%8)&1 == 1
		c.bit++
		return c.format.boolean(b), nil
	}
	n, known := size[c.kind]
	if !known {
		return "", fmt.Errorf("values of type %d", c.kind)
	}
	b, err := take(n)
	if err != nil {
		return "", err
	}
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
	case bytesKind:
		size := order.Uint32(b)
		if int64(size) > int64(len(c.data)) {
			return "", errBreaksOff
		}
		if b, err = take(int(size)); err != nil {
			return "", err
		}
	}
	if c.format.decimal {
		return c.format.point(signed(b)), nil
	}
	return string(b), nil
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
