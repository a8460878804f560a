package explorer

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{"-1.5": "−1.5", "a-1": "a-1", "x, -.5 to -3": "x, −.5 to −3", "3": "3", "CC-1": "CC-1"} {
		if got := signed(text); got != want {
			t.Errorf("signed(%q) = %q, want %q", text, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 31767: "31,767", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

// A report has minus signs, thousands with commas, and every figure once.
func TestReportNumbers(t *testing.T) {
	var b strings.Builder
	b.WriteString("smiles,logS\n")
	for i := range 1100 {
		fmt.Fprintf(&b, "%sC(%s)%s,%.2f\n", strings.Repeat("C", 1+i%11), strings.Repeat("C", 1+i/11%10)+"ONF"[i%3:i%3+1], strings.Repeat("C", i/110%10), -3-float64(i%7)*0.3)
	}
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	a := s.upload("name=negative.csv", b.String())
	code, body := s.do("POST", "/api/v1/report?source="+a.Source, `{"graphs":[1],"kernel":"wl h=1"}`, "")
	text := string(body)
	if code != 200 || !strings.Contains(text, "1,100 molecules, 1,100 of them with logS") {
		t.Fatalf("%d %.300s", code, text)
	}
	if wrong := regexp.MustCompile(`>[^<]*[\s>]-\d[^<]*<`).FindString(text); wrong != "" {
		t.Errorf("a hyphen for a minus sign: %s", wrong)
	}
	if strings.Contains(text, "rmse") || !strings.Contains(text, "error (root mean square)") {
		t.Error("the error has two names")
	}
}
