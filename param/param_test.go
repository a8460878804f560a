package param

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// box is a record with a parameter of every kind.
type box struct {
	Flag   bool      `json:"flag" help:"Whether."`
	Count  int       `json:"count" want:"1 to 9" help:"How many. Or none."`
	Seed   uint64    `json:"seed"`
	Size   float64   `json:"size" want:"positive"`
	Kind   string    `json:"kind" want:"one of plain fancy" help:"What kind."`
	Name   string    `json:"name"`
	Inner  string    `json:"inner" want:"a kernel"`
	List   []int     `json:"list" want:"at least 0"`
	Words  []string  `json:"words"`
	Reals  []float64 `json:"reals"`
	Hidden int       `json:"-"`
	fixed  bool
}

func (b box) Fixed(parameter string) bool { return b.fixed && parameter == "size" }

func usual() box { return box{Count: 1, Size: 2, Kind: "plain", List: []int{1, 2}} }

// A record comes back from its text, whatever its texts have in them.
func TestTextRoundTrip(t *testing.T) {
	for _, b := range []box{
		usual(),
		{Flag: true, Count: 9, Seed: math.MaxUint64, Size: 1e100, Kind: "fancy", Name: "a b", Inner: "wl h=3", List: []int{}, Words: []string{"C", "a,b", "="}, Reals: []float64{1e-300, -0.5}},
		{Count: 1, Size: 1e-7, Kind: "plain", Name: `"quoted" + (brackets) * é`, Inner: "sp", List: []int{3}, Words: []string{"(", "tab\t"}},
		{Count: 1, Size: 2, Kind: "plain", Name: "true", Inner: `core base="nspd r=1"`, List: []int{1, 2}},
		{Count: 1, Size: 2, Kind: "plain", Inner: "not ( balanced", List: []int{0}},
	} {
		for _, usually := range []any{usual(), nil} {
			text := Text("box", b, usually)
			read, err := Read(text)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			got, others, err := Set(text, read.Terms[0].Factors[0], usual())
			if err != nil || len(others) > 0 || len(read.Terms) != 1 || len(read.Terms[0].Factors) != 1 {
				t.Errorf("%s: %v, %v", text, others, err)
			}
			if again := Text("box", got, usually); again != text || !reflect.DeepEqual(Copy(got), Copy(b)) {
				t.Errorf("%s comes back as %s", text, again)
			}
		}
	}
	if got, want := Text("box", usual(), usual()), "box"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := Text("box", box{fixed: true, Count: 1, Kind: "plain", List: []int{1, 2}}, box{fixed: true, Count: 1, Kind: "plain", List: []int{1, 2}}); got != "box" {
		t.Errorf("%s, want box", got)
	}
}

// Every text that can be read has the same meaning when spaces are put around its signs.
func FuzzRead(f *testing.F) {
	f.Add(`0.5 a x=1,2 y="b c" + 0.25*(b + c z=(d * e)) * f flag`)
	f.Add("1e+5 a + 2 b x=1e+3")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			return
		}
		s, err := Read(text)
		var at *TextError
		if err != nil {
			if errors.As(err, &at) && (at.At < 0 || at.At > len(text) || at.Column() < 1) {
				t.Errorf("%q: an error at %d", text, at.At)
			}
			return
		}
		for _, term := range s.Terms {
			if len(term.Factors) == 0 || !(term.Weight >= 0) {
				t.Errorf("%q: a term %+v", text, term)
			}
			for _, f := range term.Factors {
				if (f.Name == "") != (f.Sum != nil) || f.At < 0 || f.At >= len(text) {
					t.Errorf("%q: a factor %+v", text, f)
				}
				for _, g := range f.Given {
					if g.Name == "" || g.At > g.ValueAt || g.ValueAt > len(text) || !strings.HasPrefix(text[g.At:], g.Name) {
						t.Errorf("%q: given %+v", text, g)
					}
				}
			}
		}
		end(text)
	})
}

func TestOf(t *testing.T) {
	p := Of(usual())
	if len(p) != 10 || p[4].Name != "kind" || !slices.Equal(p[4].Choices, []string{"plain", "fancy"}) || p[7].Type != "integers" || p[8].Type != "texts" || p[1].Want != "1 to 9" {
		t.Errorf("%+v", p)
	}
	if Get(usual(), "count") != 1 || Get(usual(), "nothing") != nil {
		t.Error("the values of parameters")
	}
}

func TestWith(t *testing.T) {
	for _, c := range [][3]string{
		{"flag", "true", ""}, {"count", "3", ""}, {"list", "3, 4", ""}, {"words", "a,b", ""}, {"list", "", ""}, {"name", "a,b", ""},
		{"flag", "yes", `box: flag = "yes", want true or false`}, {"count", "1.5", `box: count = "1.5", want a whole number`},
		{"size", "x", `box: size = "x", want a number`}, {"list", "1,,2", `box: list = "1,,2", want integers with commas between them`},
		{"seed", "-1", `box: seed = "-1", want a whole number`}, {"lid", "1", "box: no parameter lid, want one of flag, count, seed, size, kind, name, inner, list, words, reals"},
	} {
		got, err := With("box", usual(), c[0], c[1])
		if text := errorText(err); text != c[2] {
			t.Errorf("%v: error %s, want %s", c, text, c[2])
		}
		if err == nil && reflect.DeepEqual(got, usual()) {
			t.Errorf("%v changes nothing", c)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		change func(b *box)
		want   string
	}{
		{func(*box) {}, ""},
		{func(b *box) { b.Count = 10 }, "box: count = 10, want 1 to 9"},
		{func(b *box) { b.Size = math.NaN() }, "box: size = NaN, want a positive, finite number"},
		{func(b *box) { b.Kind = "odd" }, `box: kind = "odd", want plain or fancy`},
		{func(b *box) { b.List = []int{1, -1} }, "box: list = 1,-1, want at least 0 for each"},
		{func(b *box) { b.Reals = []float64{math.Inf(1)} }, "box: reals = +Inf, want a finite number for each"},
	} {
		b := usual()
		c.change(&b)
		err := Check("box", b)
		if text := errorText(err); text != c.want {
			t.Errorf("error %q, want %q", text, c.want)
		}
		var wrong *Error
		if c.want != "" && (!errors.As(err, &wrong) || wrong.Of != "box") {
			t.Errorf("%T is no Error", err)
		}
	}
}

// What stands at the end of a text decides what may follow.
func TestComplete(t *testing.T) {
	fields := map[string]any{"box": usual(), "lid": struct{}{}}
	AddLanguage("a kernel", Language{
		Names:  func() []string { return []string{"box", "lid"} },
		Record: func(name string) any { return fields[name] },
		About:  func(name string) string { return "about " + name },
		Words:  []Completion{{Word: "upside"}},
	})
	for text, want := range map[string]string{
		"":                        "box lid",
		"b":                       "box",
		"box ":                    "flag count= seed= size= kind= name= inner= list= words= reals= upside",
		"box fl":                  "flag",
		"box kind=":               "plain fancy",
		"box kind=f":              "fancy",
		"box count=":              "1",
		"box list=":               "1,2",
		"box flag=":               "true false",
		"box inner=":              "box lid",
		"box inner=(l":            "lid",
		"box inner=(box u":        "upside",
		"box inner=(lid) c":       "count=",
		"0.5 lid + ":              "box lid",
		"0.5 lid + 0.5 (box + li": "lid",
		"lid * b":                 "box",
		"what ":                   "upside",
		"box kind=plain) x":       "",
	} {
		_, words := Complete("a kernel", text)
		var got []string
		for _, w := range words {
			got = append(got, w.Word)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
	}
}

// An error shows the text around its place, whatever the length of the text.
func TestTextError(t *testing.T) {
	long := strings.Repeat("ä", 50) + "!" + strings.Repeat("ö", 50)
	for _, c := range []struct {
		text   string
		at     int
		most   int
		window string
		column int
	}{
		{"wl h=x", 5, 10, "wl h=x", 6},
		{"wl h=x", 0, 10, "wl h=x", 1},
		{"wl h=x", NoPlace, 10, "wl h=x", 1},
		{"", 0, 10, "", 1},
		{"abcdefgh", 0, 4, "abcd…", 1},
		{"abcdefgh", 4, 4, "…cdef…", 4},
		{"abcdefgh", 8, 4, "…efgh", 6},
		{long, 100, 6, "…äää!öö…", 5},
	} {
		e := &TextError{c.text, c.at, errors.New("wrong")}
		window, column := e.Window(c.most)
		if window != c.window || column != c.column {
			t.Errorf("%q at %d: %q, %d, want %q, %d", c.text, c.at, window, column, c.window, c.column)
		}
	}
	inner := &TextError{"h=x", 2, errors.New("wrong")}
	for _, c := range []struct {
		err  error
		want string
	}{
		{At("wl", NoPlace, errors.New("wrong")), "wrong"},
		{At("wl", 0, errors.New("wrong")), `wrong (character 1 of "wl")`},
		{At("wl h=x", 3, inner), `wrong (character 6 of "wl h=x")`},
		{At("h=x", NoPlace, inner), `wrong (character 3 of "h=x")`},
		{At("wl h=x", 3, At("h=x", NoPlace, errors.New("wrong"))), `wrong (character 4 of "wl h=x")`},
	} {
		if c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	if err := At("wl", 0, nil); err != nil {
		t.Errorf("of no error %v", err)
	}
	var e *TextError
	if errors.As(At("wl", NoPlace, errors.New("wrong")), &e); e.Column() != 0 {
		t.Errorf("column %d without a place", e.Column())
	}
}
