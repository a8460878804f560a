package explorer

import (
	"errors"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// limits bound parameters of multiscale kernels: they keep a computation on a few thousand graphs within
// seconds and a few hundred megabytes.
type limits struct {
	Radii    []int   `json:"radii" want:"1 to 64"`
	Eta      float64 `json:"eta" want:"1e-06 to 1e+06"`
	Gamma    float64 `json:"gamma" want:"1e-06 to 1e+06"`
	Power    int     `json:"power" want:"1 to 16"`
	Samples  int     `json:"samples" want:"1 to 1000"`
	Rank     int     `json:"rank" want:"1 to 64"`
	PairRank int     `json:"pair_rank" want:"0 to 0"`
}

const (
	maxLevels     = 8
	maxFactors    = 16
	maxCovariance = 512 << 20 // bytes of the covariances of a session
)

// chosen returns the kernel of a text. The error names the place of what is wrong or beyond its limits.
func (d *Data) chosen(text string) (kernel.Kernel, error) {
	k, err := kernel.Parse(text)
	if err == nil {
		err = d.limit(k)
	}
	if err != nil {
		return nil, badRequest("kernel", "%v", err)
	}
	return k, nil
}

// limit returns an error unless a kernel is within the limits.
func (d *Data) limit(k kernel.Kernel) error {
	sum, err := kernel.SumOf(k).Expand(d.Graphs)
	if err != nil {
		return err
	}
	factors, bytes := 0, int64(0)
	for _, t := range sum.Terms {
		for _, f := range t.Factors {
			factors++
			m, ok := f.Kernel.(mlg.Kernel)
			if !ok {
				continue
			}
			if err := param.Check(m.Name(), limits{m.Radii, m.Eta, m.Gamma, m.Power, m.Samples, m.Rank, m.PairRank}); err != nil {
				return err
			}
			bytes += int64(len(d.IDs)) * int64(m.Rank) * int64(m.Rank+1) / 2 * 8
			switch {
			case len(m.Radii) > maxLevels:
				return &param.Error{Of: m.Name(), Name: "radii", Value: param.Value(m.Radii), Want: "at most 8 of them"}
			case m.Exact:
				return &param.Error{Of: m.Name(), Name: "exact", Value: "true", Want: "false, because the page works with the low-rank kernel only"}
			case bytes > maxCovariance:
				return &param.Error{Of: m.Name(), Name: "rank", Value: param.Value(m.Rank), Want: "less, because so many graphs need too much memory"}
			}
		}
	}
	if factors > maxFactors {
		return errors.New("a sum of more than 16 factors, want fewer")
	}
	return nil
}
