package mlg

import (
	"testing"
)

func BenchmarkExact(b *testing.B) {
	for _, name := range []string{"MUTAG", "PTC", "ENZYMES"} {
		b.Run(name, func(b *testing.B) {
			graphs := readData(b, name)
			o := DefaultOptions()
			for b.Loop() {
				e, err := NewExact(b.Context(), graphs, o)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := e.Gram(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
