package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// What info calls a date is one for splits by time: all forms of one day are equal.
func TestTimes(t *testing.T) {
	day := float64(time.Date(2020, 2, 13, 0, 0, 0, 0, time.UTC).Unix())
	for text, want := range map[string]float64{
		"2020-02-13": 0, "2020/2/13": 0, "2020.02.13": 0, "13.02.2020": 0, "13-2-2020": 0, "13/02/2020": 0, "02/13/2020": 0, "2020-02": -12 * 86400,
		"2020-02-13T10:00": 36000, "13.02.2020 10:00:00.5": 36000.5, "2020-02-13T10:00:00+02:00": 28800, "2020-02-13 10:00:00Z": 36000, "2020-02-13T10:00:00-0130": 41400,
	} {
		got, err := Times([]string{"a"}, []string{text})
		if err != nil || got[0] != day+want || !isDate(text) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, day+want)
		}
	}
	for text, want := range map[string]string{
		"01/02/2020 13/02/2020":            "1580515200 1581552000", // the second tells
		"01/02/2020 02/13/2020":            "1577923200 1581552000",
		"01.02.2020 01/02/2020 13/02/2020": "1580515200 1580515200 1581552000",
		"05/05/2020 2020-05-06":            "1588636800 1588723200",
		"2010 2011.5":                      "2010 2011.5",
		"01/02/2020 03/04/2020":            `graph a: time "01/02/2020": no row shows whether day or month comes first; write dates as 2026-11-16`,
		"13/02/2020 02/13/2020":            `graph b: time "02/13/2020": day and month have another order than in other rows; write dates as 2026-11-16`,
		"2010 2010-01-01":                  `graph b: time "2010-01-01", but others are such as "2010"; want all numbers or all dates`,
		"2020-13-01":                       `graph a: time "2020-13-01", want a number or a date such as 2026-11-16`,
		"30.02.2020":                       `graph a: time "30.02.2020", want a number or a date such as 2026-11-16`,
		"NaN":                              `graph a: time "NaN", want a number or a date such as 2026-11-16`,
	} {
		values := strings.Fields(text)
		got, err := Times([]string{"a", "b", "c"}, values)
		s := ""
		for _, x := range got {
			s += fmt.Sprintf(" %.10g", x)
		}
		if err != nil {
			s = " " + err.Error()
		}
		if s != " "+want {
			t.Errorf("%s:%s, want %s", text, s, want)
		}
		if slices.ContainsFunc(values, isDate) != !strings.Contains(want, "such as") && values[0] != "2010" {
			t.Errorf("%s: a date for info: %v", text, slices.ContainsFunc(values, isDate))
		}
	}
}
