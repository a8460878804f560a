package draw

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
)

// rgb returns an opaque colour written as 0xrrggbb.
func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 255}
}

var (
	white = rgb(0xffffff)
	black = rgb(0x1a1a1a)
	gray  = rgb(0x6b6b6b)
	pale  = rgb(0xdddddd)
)

// classColors differ in lightness as well as in hue, and neighbours in the list differ most, so
// everyone can tell a few classes apart. Charts also vary the shape of the marks. Blue and orange
// are not among them: these speak against and for a class.
var classColors = []color.NRGBA{
	rgb(0x008f6b), // green
	rgb(0xd44fa0), // magenta
	rgb(0x96c24e), // lime
	rgb(0xe3b5dc), // pink
	rgb(0x70240c), // brown
	rgb(0x3d2a78), // indigo
	rgb(0x9b6bdf), // violet
	rgb(0xe3cb2e), // yellow
	rgb(0x00565c), // petrol
	rgb(0x8a8420), // olive
	rgb(0xa9a9a9), // grey
	rgb(0xd63a4f), // red
	rgb(0x35c4b5), // aqua
	rgb(0x3a3a3a), // black
}

// ClassColor returns the colour of the i-th class. There are 14; then they repeat.
func ClassColor(i int) color.NRGBA { return classColors[i%len(classColors)] }

// classColor returns the colour of the i-th class among given ones, nil for the usual.
func classColor(given []color.NRGBA, i int) color.NRGBA {
	if given == nil {
		return ClassColor(i)
	}
	return given[i%len(given)]
}

// Classes returns the distinct names in natural order, numbers by value before other texts,
// and the place of each in that order.
func Classes(names []string) ([]string, map[string]int) {
	value := func(s string) float64 {
		if x, err := strconv.ParseFloat(s, 64); err == nil {
			return x
		}
		return math.Inf(1)
	}
	distinct := slices.Clone(names)
	slices.SortFunc(distinct, func(a, b string) int { return cmp.Or(cmp.Compare(value(a), value(b)), cmp.Compare(a, b)) })
	distinct = slices.Compact(distinct)
	place := map[string]int{}
	for i, s := range distinct {
		place[s] = i
	}
	return distinct, place
}

// ramp interpolates between colours at equal distances; t is clipped to [0, 1].
func ramp(t float64, stops []color.NRGBA) color.NRGBA {
	t = min(max(t, 0), 1) * float64(len(stops)-1)
	i := min(int(t), len(stops)-2)
	a, b, f := stops[i], stops[i+1], t-float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + f*(float64(b)-float64(a)))) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

var divergingStops = []color.NRGBA{
	rgb(0x3a75bf), rgb(0x72a4d8), rgb(0xb8d4ee), rgb(0xf8f8f8), rgb(0xfad3a8), rgb(0xf09f52), rgb(0xd67014),
}

// diverging returns the colour of t in [0, 1], from blue over white at ½ to orange: a pair
// that people with any colour vision tell apart, light enough for black letters on it.
func diverging(t float64) color.NRGBA { return ramp(t, divergingStops) }

var sequentialStops = []color.NRGBA{
	rgb(0xfbf8ef), rgb(0xc9e0c5), rgb(0x7fbdb6), rgb(0x358ea8), rgb(0x21578c), rgb(0x1b1f4f),
}

// sequential returns the colour of t in [0, 1], from light to dark in even steps of lightness.
func sequential(t float64) color.NRGBA { return ramp(t, sequentialStops) }

// numberStops are those of numbers on a map, and differenceStops of numbers around a middle. Unlike the other
// scales they show on white at both ends and in the middle.
var (
	numberStops     = []color.NRGBA{rgb(0xfbe3b5), rgb(0xf0b08f), rgb(0xdc7a8f), rgb(0xb04e92), rgb(0x6f3685), rgb(0x2c1a55)}
	differenceStops = []color.NRGBA{rgb(0x3a75bf), rgb(0x72a4d8), rgb(0xb4b4b4), rgb(0xf09f52), rgb(0xd67014)}
	unknownColor    = rgb(0xc9c9c9) // of points without a value or a class
)

// Judged are the colours of right and wrong predictions, which are those of no class.
var Judged = []color.NRGBA{rgb(0xc4c4c4), rgb(0x1a1a1a)}

// onDark are pairs of a colour and another one that stands for it on a dark ground.
var onDark = [][]color.NRGBA{{unknownColor, rgb(0x5b636b)}, {Judged[0], rgb(0x4b5259)}, {Judged[1], rgb(0xffffff)}}

// Palette has the colours of scales, from one end to the other, for pages that draw with them.
type Palette struct {
	Similarities []string `json:"similarities"`
	Numbers      []string `json:"numbers" help:"of numbers on a map"`
	Differences  []string `json:"differences" help:"of numbers around a middle"`
	Unknown      string   `json:"unknown" help:"of points without a value or a class"`
	// Dark are pairs of colours.
	Dark [][]string `json:"dark" help:"pairs of a colour, of points without a value or of right and wrong predictions, and the one that stands for it on a dark ground"`
}

// Colors returns the scales of all pictures.
func Colors() Palette {
	text := func(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
	texts := func(stops []color.NRGBA) (out []string) {
		for _, c := range stops {
			out = append(out, text(c))
		}
		return out
	}
	var dark [][]string
	for _, pair := range onDark {
		dark = append(dark, texts(pair))
	}
	return Palette{texts(sequentialStops), texts(numberStops), texts(differenceStops), text(unknownColor), dark}
}

func numberColor(t float64) color.NRGBA     { return ramp(0.05+0.95*t, numberStops) }
func differenceColor(t float64) color.NRGBA { return ramp(t, differenceStops) }

// elementColors are the usual colours of atoms, dark enough for text on white.
var elementColors = map[string]color.NRGBA{
	"N": rgb(0x1d4ed8), "O": rgb(0xc81414), "S": rgb(0x866a00), "F": rgb(0x1c7c2e), "Cl": rgb(0x1c7c2e),
	"Br": rgb(0x8c3b0c), "I": rgb(0x6b21a8), "P": rgb(0xb45309),
}
