package dataset

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A date begins with the year, and then the day may be missing, or it ends with the year.
var dates = regexp.MustCompile(`^(?:(\d{4})([-/.])(\d{1,2})(?:[-/.](\d{1,2}))?|(\d{1,2})([-/.])(\d{1,2})[-/.](\d{4}))` +
	`(?:[T ](\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$`)

// order says which of the two small numbers of a date is the month.
type order struct{ dayFirst, monthFirst bool }

// parseDate reads a date in every order that its numbers allow. Dates that begin with the year go on with the month, and those with
// points or hyphens begin with the day.
func parseDate(s string) (byOrder map[order]time.Time, ok bool) {
	m := dates.FindStringSubmatch(s)
	if m == nil {
		return nil, false
	}
	clock, zone := m[9], strings.Replace(m[10], ":", "", 1)
	layout := map[int]string{0: "", 1: " 15:04", 2: " 15:04:05"}[strings.Count(clock, ":")]
	if clock != "" {
		clock = " " + clock
	}
	if zone == "Z" {
		zone = "+0000"
	}
	if zone != "" {
		layout, clock = layout+"-0700", clock+zone
	}
	byOrder = map[order]time.Time{}
	add := func(o order, year, month, day string) {
		if t, err := time.Parse("2006-1-2"+layout, strings.Join([]string{year, month, day}, "-")+clock); err == nil {
			byOrder[o] = t
		}
	}
	switch {
	case m[1] != "" && m[4] == "":
		add(order{true, true}, m[1], m[3], "1")
	case m[1] != "":
		add(order{true, true}, m[1], m[3], m[4])
	case m[6] != "/" || m[5] == m[7]:
		add(order{true, true}, m[8], m[7], m[5])
	default:
		add(order{dayFirst: true}, m[8], m[7], m[5])
		add(order{monthFirst: true}, m[8], m[5], m[7])
	}
	return byOrder, len(byOrder) > 0
}

func isDate(s string) bool {
	_, ok := parseDate(s)
	return ok
}

// Times returns the values of a column as numbers that grow with time: numbers, such as years, as
// they are, and dates as seconds. Dates such as 01/02/2020 together must show whether day or month
// comes first. ids name the graphs in errors.
func Times(ids, values []string) ([]float64, error) {
	out := make([]float64, len(values))
	parsed := make([]map[order]time.Time, len(values))
	possible := order{true, true}
	for i, v := range values {
		var number, date bool
		if out[i], number = finite(v); !number {
			if parsed[i], date = parseDate(v); !date {
				return nil, fmt.Errorf("graph %s: time %q, want a number or a date such as 2026-11-16", ids[i], v)
			}
		}
		if i > 0 && (parsed[i] == nil) != (parsed[0] == nil) {
			return nil, fmt.Errorf("graph %s: time %q, but others are such as %q; want all numbers or all dates", ids[i], v, values[0])
		}
		if len(parsed[i]) == 1 { // else both orders are possible
			for o := range parsed[i] {
				possible.dayFirst, possible.monthFirst = possible.dayFirst && o.dayFirst, possible.monthFirst && o.monthFirst
			}
		}
		if possible == (order{}) {
			return nil, fmt.Errorf("graph %s: time %q: day and month have another order than in other rows; write dates as 2026-11-16",
				ids[i], v)
		}
	}
	for i, byOrder := range parsed {
		for o, t := range byOrder {
			switch {
			case len(byOrder) == 1, o == possible:
				out[i] = float64(t.UnixNano()) / 1e9
			case possible == (order{true, true}):
				return nil, fmt.Errorf("graph %s: time %q: no row shows whether day or month comes first; write dates as 2026-11-16",
					ids[i], values[i])
			}
		}
	}
	return out, nil
}
