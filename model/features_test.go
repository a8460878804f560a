package model

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// Features come back as they were. Only those that are used in place are not compressed.
func TestEncodeFeatures(t *testing.T) {
	for _, c := range []struct {
		kernel  kernel.Kernel
		inPlace bool
	}{{mlg.Default(), true}, {classic.DefaultWL(), false}, {kernel.Mean(mlg.Default(), classic.DefaultWL()), false}} {
		m, err := New(t.Context(), graphtest.Suite(1), c.kernel)
		if err != nil {
			t.Fatal(err)
		}
		train, err := m.Kernel.Train(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want, err := train.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := EncodeFeatures(train)
		if err != nil {
			t.Fatal(err)
		}
		if c.inPlace != bytes.Equal(data[8:], want) || !c.inPlace && len(data) >= len(want) {
			t.Errorf("%s: %d bytes, %d before; in place: %v", c.kernel, len(data), len(want), c.inPlace)
		}
		back, err := DecodeFeatures(m.Kernel, data)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := back.AppendBinary(nil); err != nil || !bytes.Equal(again, want) || kernel.InPlace(back) != c.inPlace {
			t.Errorf("%s: the features differ; error %v", c.kernel, err)
		}
		form := slices.Clone(data)
		form[0] = 9
		for want, bad := range map[string][]byte{"end early": data[:7], "features in form 9": form, "": data[:len(data)-9]} {
			if _, err := DecodeFeatures(m.Kernel, bad); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q in it", c.kernel, err, want)
			}
		}
	}
}
