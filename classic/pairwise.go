package classic

import "context"

// pairwise returns the recipe of a kernel that has no features but compares graphs pair by pair:
// compare compares what prepare made of two graphs. It must give the same bits for (a, b) and
// (b, a). Every goroutine has its own functions.
func pairwise[T any](m recipe, prepare func() func(context.Context, *coloured) (T, error),
	compare func() func(context.Context, T, T) (float64, error)) recipe {
	m.count = func() countFunc {
		prepare, compare := prepare(), compare()
		return func(ctx context.Context, g *coloured, _ *vector) error {
			p, err := prepare(ctx, g)
			if err == nil {
				g.prepared, g.large = p, []bool{true}
				g.rest, err = compare(ctx, p, p)
			}
			return err
		}
	}
	m.compare = func() compareFunc {
		compare := compare()
		return func(ctx context.Context, a, b *coloured, _ int) (float64, error) {
			return compare(ctx, a.prepared.(T), b.prepared.(T))
		}
	}
	return m
}
