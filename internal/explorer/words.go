package explorer

import (
	"regexp"
	"strconv"
	"strings"
)

var negative = regexp.MustCompile(`(^|\s)-(\.?\d)`)

// signed returns a text whose negative numbers have the minus sign that the page writes.
func signed(text string) string { return negative.ReplaceAllString(text, "${1}−${2}") }

// thousands writes a number of things as the page does, 12,345.
func thousands(n int) string {
	text := strconv.Itoa(n)
	var b strings.Builder
	for i, c := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// inWords is the name of a measure for those who do not know its abbreviation.
func inWords(measure string) string {
	if name, ok := map[string]string{"rmse": "error (root mean square)", "nlpd": "negative log density"}[measure]; ok {
		return name
	}
	return measure
}
