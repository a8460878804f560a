package cli

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// parserOf returns the parser of the command and what it fills.
func parserOf(t *testing.T) (*kong.Kong, *root) {
	t.Helper()
	r := new(root)
	p, err := kong.New(r, kong.Name("mlg"), kong.Bind(&r.globals), helpWords, kong.Exit(func(int) { t.Fatal("it exits") }))
	if err != nil {
		t.Fatal(err)
	}
	return p, r
}

// fromFlag returns the kernel that a command line describes.
func fromFlag(t *testing.T, text string) kernel.Kernel {
	t.Helper()
	p, r := parserOf(t)
	if _, err := p.Parse([]string{"gram", "x.smi", "-o", "x.npy", "--kernel", text}); err != nil {
		t.Fatal(err)
	}
	k, err := r.Gram.text().kernel()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Every parameter of every kernel changes the text that identifies it, and its value survives the
// flag and both texts; model.TestSavedPredictions saves it. So do forms of graphs, and sums and products
// with it.
func TestEveryParameter(t *testing.T) {
	graphtest.Slow(t)
	for _, name := range kernel.Names() {
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range param.Of(k) {
			t.Run(name+"/"+p.Name, func(t *testing.T) {
				changed := kerneltest.Changed(t, k, p)
				if err := changed.Validate(); err != nil {
					t.Fatal(err)
				}
				if changed.String() == k.String() {
					t.Errorf("%s does not change the text %s", p.Name, k)
				}
				texts := []string{changed.String(), kernel.FullText(changed)}
				for _, form := range kernel.Forms() {
					word := form.Word
					text := changed.String()
					if param.Get(changed, word) != nil { // a parameter of this name hides the form
						text = "(" + text + ")"
					}
					texts = append(texts, text+" "+word)
				}
				if kernel.CheckNormalized(changed) == nil {
					texts = append(texts, "0.25 "+changed.String()+" + 0.75 (labels + sp) * "+changed.String())
				}
				for i, text := range texts {
					got := fromFlag(t, text)
					if i < 2 && got.String() != changed.String() || i >= 2 && got.String() != fromFlag(t, got.String()).String() {
						t.Errorf("%s is read as %v", text, got)
					}
				}
			})
		}
	}
}

// Every setting of every default candidate can be written down and read back, whatever the data have.
func TestCandidatesAsTexts(t *testing.T) {
	for _, data := range []string{"builtin:drugs", "builtin:scales"} {
		ds, err := dataset.Read(t.Context(), data, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		info := dataset.Info(ds)
		info.Attributes, info.EdgeLabels, info.Marked, info.TargetRange = 2, 3, 4, []float64{0, 1}
		seen := map[string]int{}
		for _, c := range choose.DefaultCandidates(info) {
			for _, s := range c.Settings {
				text := s.Kernel.String()
				if got := fromFlag(t, text); got.String() != text {
					t.Errorf("%s: %s comes back as %s", s.Parameters, text, got)
				}
				if full := kernel.FullText(s.Kernel); fromFlag(t, full).String() != text {
					t.Errorf("%s: %s comes back as %s", s.Parameters, full, fromFlag(t, full))
				}
				for _, word := range []string{"incident", "subdivide", "standardize", "stereo", "composition", " * ", " + "} {
					if strings.Contains(text, word) {
						seen[word]++
					}
				}
			}
		}
		if len(seen) != 7 {
			t.Errorf("%s: the settings have only %v", data, seen)
		}
	}
}

// What is wrong with a text is shown at its place: at the first character, at normalize=false, and in long texts.
func TestKernelErrors(t *testing.T) {
	long := strings.Repeat("wl + ", 40) + "wl h=x + " + strings.Repeat("sp + ", 40) + "sp"
	for text, want := range map[string]string{
		"wk":                               "\n  wk\n  ^",
		"wl normalize=false * sp":          "only normalised kernels can be combined\n  wl normalize=false * sp\n               ^",
		"sp + 0.5 wl":                      "\n  sp + 0.5 wl\n       ^",
		"mlg exact samples=7":              "mlg: samples = 7, want 100 with exact: it has no effect on the exact kernel\n  mlg exact samples=7\n                    ^",
		"sp * mlg exact landmarks=pivoted": "\n  sp * mlg exact landmarks=pivoted\n                           ^",
		"flg pair_rank=2":                  "flg: pair_rank = 2, want 0, or exact: it has no effect on the low-rank kernel\n  flg pair_rank=2\n                ^",
		"wl\th=x":                          "\n  wl h=x\n       ^",
		long:                               "\n  …",
		"":                                 "--kernel: the end, want a name",
	} {
		_, err := kernelArg(text).kernel()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if caret := lines[len(lines)-1]; text == long && (len([]rune(lines[1])) > 80 || []rune(lines[1])[len(caret)-1] != 'x') {
			t.Errorf("%s", err)
		}
	}
}

// The words that go on where a text ends.
func TestCompleteKernel(t *testing.T) {
	p, _ := parserOf(t)
	for line, want := range map[string]string{
		`mlg gram x --kernel w`:                               "wl|wl-edge|wl-oa|wl-sp",
		`mlg gram x --kernel=wl-o`:                            "--kernel=wl-oa",
		`mlg gram x --kernel "wl h`:                           "wl h=",
		`mlg gram x --kernel 'wl b`:                           "wl base=",
		`mlg gram x --kernel "wl base=(ns`:                    "wl base=(nspd",
		`mlg gram x --kernel "wl labels=d`:                    "wl labels=degrees",
		`mlg gram x --kernel "0.5 mlg + 0.5 odd-sth ord`:      "",
		`mlg gram x --kernel "0.5 mlg + 0.5 nspd * ne`:        "0.5 mlg + 0.5 nspd * neighborhood-hash",
		`mlg gram x --kernel "mlg base=(labels * gaussian si`: "mlg base=(labels * gaussian sigma=",
		`mlg gram x --kernel "mlg base=(labels * ga`:          "mlg base=(labels * gaussian",
		`mlg gram x --kernel "mlg base=hea`:                   "mlg base=heat",
		`mlg gram x --kernel "wl sub`:                         "wl subdivide",
		`mlg evaluate x --kernel wl --kernel "mlg rad`:        "mlg radii=",
	} {
		var got []string
		for _, w := range completions(p.Model, line) {
			word, _, _ := strings.Cut(w, "\t")
			got = append(got, word)
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("%s: %s, want %s", line, text, want)
		}
	}
}
