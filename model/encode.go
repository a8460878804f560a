package model

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/svm"
)

// maxJSON bounds a section of JSON: what it decodes to may take many times its bytes.
const maxJSON = 1 << 20

// metaJSON is the section "meta".
type metaJSON struct {
	Kernels   int               `json:"kernels"`
	Reader    map[string]string `json:"reader,omitempty"`
	Created   map[string]string `json:"created,omitempty"`
	Estimates []Estimate        `json:"estimates,omitempty"`
}

// productJSON is the section "kernel/i" of a kernel that is no single multiscale kernel on
// graphs as they are.
type productJSON struct {
	Kind    string  `json:"kind"`
	Weight  float64 `json:"weight"`
	Factors int     `json:"factors"`
}

// sameJSON is the section of a factor that occurred before, under another name.
type sameJSON struct {
	Kind string `json:"kind"`
	As   string `json:"as"`
}

// kernelJSON is the section "kernel/i", or "kernel/i/j" for a factor, of a multiscale kernel.
type kernelJSON struct {
	Kind      string      `json:"kind"`
	Weight    float64     `json:"weight"`
	Graphs    int         `json:"graphs"`
	Radii     []int       `json:"radii"`
	Eta       float64     `json:"eta"`
	Gamma     float64     `json:"gamma"`
	Base      string      `json:"base"`
	Discount  bool        `json:"discount"`
	Combine   string      `json:"combine"`
	Power     int         `json:"power"`
	Samples   int         `json:"samples"`
	Rank      int         `json:"rank"`
	Landmarks string      `json:"landmarks"`
	Seed      uint64      `json:"seed"`
	Levels    []levelJSON `json:"levels"`

	Standardized bool `json:"standardized,omitempty"`
	Subdivided   bool `json:"subdivided,omitempty"`
}

type levelJSON struct {
	Explicit  bool `json:"explicit"`
	Landmarks int  `json:"landmarks"`
	Features  int  `json:"features"`
}

// Kinds of kernels; those of baseline kernels stand in factor.go.
const (
	kindLowRank = "mlg-low-rank"
	kindProduct = "product"
	kindSame    = "same"
)

// learnerJSON is the section "learner".
type learnerJSON struct {
	Kind        string  `json:"kind"`
	Labels      []int   `json:"labels,omitempty"`
	Probability bool    `json:"probability"`
	Lambda      float64 `json:"lambda"`
}

// Kinds of learners.
const (
	kindClassifier = "classifier"
	kindRegressor  = "regressor"
	kindRidge      = "ridge"
)

// Write writes a model file. It is there whole or not at all.
func Write(ctx context.Context, path string, m *Model) error {
	if strings.HasSuffix(path, ".gz") {
		return fmt.Errorf("%s: model files are not compressed, want a name without .gz", path)
	}
	return dataset.WriteFile(ctx, path, func(w io.Writer) error { return Encode(w, m) })
}

// Encode writes a model in the format of a model file. Equal models give equal bytes.
func Encode(w io.Writer, m *Model) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	meta, err := toJSON("meta", metaJSON{len(m.Kernels), m.Reader, m.Created, m.Estimates})
	if err != nil {
		return err
	}
	kernels, err := encodeKernels(m.Kernels)
	if err != nil {
		return err
	}
	sections := append([]section{meta}, kernels...)
	if m.Learner != nil {
		learner, err := m.Learner.encode()
		if err != nil {
			return err
		}
		sections = append(sections, learner...)
	}
	sections = append(sections, section{"train/ids", appendStrings(nil, m.IDs)})
	if m.Targets != nil {
		sections = append(sections, section{"train/targets", appendStrings(nil, m.Targets)})
	}
	if m.Nearest != nil {
		sections = append(sections, section{"train/nearest", appendFloats(nil, m.Nearest)})
	}
	if m.Graphs != nil {
		sections = append(sections, encodeGraphs(m.Graphs)...)
	}
	return pack(w, sections)
}

// Fingerprint identifies the kernels of a model: two models with the same one give the same
// kernel values. It is the SHA-256 hash of the names, lengths and hashes of the kernels'
// sections, and of those of the training graphs where a kernel is fitted to them
// (docs/model-format.md).
func (m *Model) Fingerprint() ([sha256.Size]byte, error) {
	sections, err := encodeKernels(m.Kernels)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	if m.refits() {
		sections = append(sections, encodeGraphs(m.Graphs)...)
	}
	h := sha256.New()
	for _, s := range sections {
		var name [nameSize]byte
		copy(name[:], s.name)
		h.Write(name[:])
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(s.data))))
		sum := sha256.Sum256(s.data)
		h.Write(sum[:])
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// refits reports whether some kernel is fitted to the training graphs again.
func (m *Model) refits() bool {
	return slices.ContainsFunc(m.Kernels, func(k Kernel) bool {
		return slices.ContainsFunc(k.Factors, func(f Factor) bool { return f.Baseline != nil })
	})
}

func encodeKernels(kernels []Kernel) ([]section, error) {
	var out []section
	known := map[Factor]string{} // where factors are stored
	for i, k := range kernels {
		name := fmt.Sprintf("kernel/%d", i)
		if len(k.Factors) == 1 && k.Factors[0] == (Factor{Fitted: k.Factors[0].Fitted}) && known[k.Factors[0]] == "" {
			parts, err := encodeModel(name, k.Weight, k.Factors[0])
			if err != nil {
				return nil, fmt.Errorf("kernel %d: %w", i, err)
			}
			known[k.Factors[0]] = name
			out = append(out, parts...)
			continue
		}
		head, err := toJSON(name, productJSON{kindProduct, k.Weight, len(k.Factors)})
		if err != nil {
			return nil, err
		}
		out = append(out, head)
		for j, f := range k.Factors {
			at := fmt.Sprintf("%s/%d", name, j)
			var parts []section
			if as := known[f]; as != "" {
				head, err = toJSON(at, sameJSON{kindSame, as})
				parts = []section{head}
			} else {
				parts, err = encodeFactor(at, f)
				known[f] = at
			}
			if err != nil {
				return nil, fmt.Errorf("kernel %d: %w", i, err)
			}
			out = append(out, parts...)
		}
	}
	return out, nil
}

func encodeFactor(name string, f Factor) ([]section, error) {
	var out []section
	var err error
	if f.Baseline == nil {
		out, err = encodeModel(name, 1, f)
	} else {
		var b baselineJSON
		if b, err = baselineToJSON(f.Baseline.kernel); err == nil {
			b.Standardized, b.Subdivided = f.Standard != nil, f.Subdivided
			out = make([]section, 1)
			out[0], err = toJSON(name, b)
		}
	}
	if err == nil && f.Standard != nil {
		out = append(out, section{name + "/standard", appendFloats(appendFloats(nil, f.Standard.Mean), f.Standard.Scale)})
	}
	return out, err
}

// encodeModel returns the sections of a multiscale kernel.
func encodeModel(name string, weight float64, f Factor) ([]section, error) {
	s, err := f.Fitted.Snapshot()
	if err != nil {
		return nil, err
	}
	k := kernelJSON{
		Kind: kindLowRank, Weight: weight, Graphs: s.Graphs, Radii: s.Radii, Eta: s.Eta, Gamma: s.Gamma,
		Base: s.Base, Discount: s.Discount, Combine: s.Combine.String(), Power: s.Power,
		Samples: s.Samples, Rank: s.Rank, Landmarks: s.Landmarks.String(), Seed: s.Seed,
		Standardized: f.Standard != nil, Subdivided: f.Subdivided,
	}
	if k.Radii == nil {
		k.Radii = []int{} // the same bytes for none
	}
	for _, l := range s.Levels {
		k.Levels = append(k.Levels, levelJSON{l.Explicit, l.N, l.P})
	}
	head, err := toJSON(name, k)
	if err != nil {
		return nil, err
	}
	out := []section{head}
	for i, l := range s.Levels {
		level := fmt.Sprintf("%s/level/%d/", name, i)
		if i == 0 {
			out = append(out, section{level + "descriptors", appendStrings(nil, l.Descriptors)})
		} else {
			out = append(out, section{level + "marks", appendFloats(nil, l.Marks)})
		}
		if !l.Explicit {
			out = append(out, section{level + "weights", appendFloats(nil, l.W)}, section{level + "eigenvalues", appendFloats(nil, l.Values)})
		}
	}
	for i, t := range s.Train {
		out = append(out, section{fmt.Sprintf("%s/train/%d", name, i), appendFloats(nil, t)})
	}
	return out, nil
}

// encode returns the sections of a learner.
func (l *Learner) encode() ([]section, error) {
	head := learnerJSON{Kind: kindRidge}
	var machines []svm.Machine
	var rest []section
	switch {
	case l.Classifier != nil:
		machines = l.Classifier.Machines
		head = learnerJSON{Kind: kindClassifier, Labels: l.Classifier.Classes, Probability: machines[0].Platt != nil}
		rest = []section{{"learner/classes", appendStrings(nil, l.Classes)}}
	case l.Regressor != nil:
		r := l.Regressor
		head.Kind = kindRegressor
		machines = []svm.Machine{{Support: r.Support, Coefficients: r.Coefficients, Bias: r.Bias, Objective: r.Objective, Iterations: r.Iterations}}
	default:
		r := l.Ridge
		head.Lambda = r.Lambda
		machines = []svm.Machine{{Coefficients: r.Coefficients, Bias: r.Bias}}
		rest = []section{{"learner/leave-one-out", appendFloats(nil, r.LeaveOneOut)}}
	}
	first, err := toJSON("learner", head)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	var table, support, coefficients []byte
	for _, m := range machines {
		table = le.AppendUint64(table, uint64(len(m.Coefficients)))
		table = le.AppendUint64(table, uint64(m.Iterations))
		var platt svm.Sigmoid
		if m.Platt != nil {
			platt = *m.Platt
		}
		table = appendFloats(table, []float64{m.Bias, m.Objective, platt.A, platt.B})
		for _, s := range m.Support {
			support = le.AppendUint64(support, uint64(s))
		}
		coefficients = appendFloats(coefficients, m.Coefficients)
	}
	out := append([]section{first}, rest...)
	out = append(out, section{"learner/machines", table}, section{"learner/coefficients", coefficients})
	if l.Ridge == nil {
		out = append(out, section{"learner/support", support})
	}
	return out, nil
}

func toJSON(name string, v any) (section, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return section{}, fmt.Errorf("model: %s: %w", name, err)
	}
	if len(b) > maxJSON {
		return section{}, fmt.Errorf("model: %s takes %d bytes, want at most %d", name, len(b), maxJSON)
	}
	return section{name, b}, nil
}

// appendFloats appends numbers, 8 bytes each.
func appendFloats(b []byte, x []float64) []byte {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// appendStrings appends the number of strings, the length of each, and their bytes.
func appendStrings(b []byte, x []string) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(x)))
	for _, s := range x {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
	}
	for _, s := range x {
		b = append(b, s...)
	}
	return b
}
