package draw

import "math"

var (
	white = Color{255, 255, 255, 255}
	black = Color{0x1a, 0x1a, 0x1a, 255}
	gray  = Color{0x6b, 0x6b, 0x6b, 255}
	pale  = Color{0xdd, 0xdd, 0xdd, 255}
	amber = Color{0xf5, 0xb8, 0x00, 255}
)

// classes are colours for classes. They differ in lightness as well as in hue, and
// neighbours in the list differ most, so that few classes are told apart by everyone;
// charts add the shape of the mark.
var classes = []Color{
	{0x00, 0x5f, 0xb8, 255}, // blue
	{0xe0, 0x7a, 0x00, 255}, // orange
	{0x00, 0x8f, 0x6b, 255}, // green
	{0xd4, 0x4f, 0xa0, 255}, // magenta
	{0x5c, 0xb3, 0xe6, 255}, // sky
	{0x70, 0x24, 0x0c, 255}, // brown
	{0xe3, 0xcb, 0x2e, 255}, // yellow
	{0x3d, 0x2a, 0x78, 255}, // indigo
	{0x96, 0xc2, 0x4e, 255}, // lime
	{0xda, 0x44, 0x44, 255}, // red
	{0x3a, 0x3a, 0x3a, 255}, // black
	{0xe3, 0xb5, 0xdc, 255}, // pink
	{0x00, 0x56, 0x5c, 255}, // petrol
	{0xa9, 0xa9, 0xa9, 255}, // grey
}

// ClassColor returns the colour of the i-th class. There are 14; then they repeat.
func ClassColor(i int) Color { return classes[i%len(classes)] }

// ramp interpolates between colours at equal distances; t is in [0, 1].
func ramp(t float64, stops []Color) Color {
	t = min(max(t, 0), 1) * float64(len(stops)-1)
	i := min(int(t), len(stops)-2)
	f := t - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + f*(float64(b)-float64(a)))) }
	a, b := stops[i], stops[i+1]
	return Color{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

var divergingStops = []Color{
	{0x3a, 0x75, 0xbf, 255}, {0x72, 0xa4, 0xd8, 255}, {0xb8, 0xd4, 0xee, 255},
	{0xf8, 0xf8, 0xf8, 255},
	{0xfa, 0xd3, 0xa8, 255}, {0xf0, 0x9f, 0x52, 255}, {0xd6, 0x70, 0x14, 255},
}

// Diverging returns the colour of a value in [−1, 1], from blue over white to orange: a
// pair that people with any colour vision tell apart, light enough for black letters on it.
// Values outside are clipped.
func Diverging(t float64) Color { return ramp((t+1)/2, divergingStops) }

var sequentialStops = []Color{
	{0xfb, 0xf8, 0xef, 255}, {0xc9, 0xe0, 0xc5, 255}, {0x7f, 0xbd, 0xb6, 255},
	{0x35, 0x8e, 0xa8, 255}, {0x21, 0x57, 0x8c, 255}, {0x1b, 0x1f, 0x4f, 255},
}

// Sequential returns the colour of a value in [0, 1], from light to dark in even steps of
// lightness. Values outside are clipped.
func Sequential(t float64) Color { return ramp(t, sequentialStops) }

// elements are the usual colours of atoms, dark enough for text on white.
var elements = map[string]Color{
	"N": {0x1d, 0x4e, 0xd8, 255}, "O": {0xc8, 0x14, 0x14, 255}, "S": {0x86, 0x6a, 0x00, 255},
	"F": {0x1c, 0x7c, 0x2e, 255}, "Cl": {0x1c, 0x7c, 0x2e, 255}, "Br": {0x8c, 0x3b, 0x0c, 255},
	"I": {0x6b, 0x21, 0xa8, 255}, "P": {0xb4, 0x53, 0x09, 255},
}
