package classic

import "context"

// count5 counts the 21 connected types of subgraphs with 5 vertices, induced or not. d is
// the degree; t, q and f are the numbers of triangles, 4-cycles and 4-cliques on a vertex
// or an edge; w is the number of common neighbours of two vertices. Where a formula counts
// configurations in which two of the five vertices coincide, these are subtracted: they
// are subgraphs with 4 vertices (sub4), or triangles.
func (s *subgraphCounter) count5(ctx context.Context, t *graphletTable, sub, sub4 []uint64, c cliques) error {
	four := graphlets(4)
	paw := sub4[four.typeOf("01 12 02 03")]
	cycle4 := sub4[four.typeOf("01 12 23 03")]
	diamond := sub4[four.typeOf("01 12 23 03 02")]
	triangles := uint64(len(s.tri)) / 3
	n := s.g.N()

	tv := make([]uint64, n) // triangles on a vertex
	fv := make([]uint64, n) // 4-cliques on a vertex
	for e, ends := range s.ends {
		for _, v := range ends {
			tv[v] += s.t(int32(e))
			fv[v] += s.t4[e]
		}
	}
	for v := range n {
		tv[v] /= 2
		fv[v] /= 3
	}

	var star, fork, path, cricket, bull, tadpole, bowtie, dart, kite, gem, book, clique4tail, cliqueEar uint64
	for v, d := range s.d {
		star += choose(d, 4)
		cricket += tv[v] * choose2(d-2) // tv = 0 when d < 2
		bowtie += choose2(tv[v])
		clique4tail += fv[v] * (d - 3)
		// Paths by their middle vertex v and its neighbours a < b: (d_a − 1)(d_b − 1).
		var sum, squares uint64
		for _, u := range s.g.Neighbors(v) {
			a := s.d[u] - 1
			sum += a
			squares += a * a
		}
		path += (sum*sum-squares)/2 - 2*tv[v]*d
	}
	for e, ends := range s.ends {
		u, v := ends[0], ends[1]
		du, dv, te := s.d[u], s.d[v], s.t(int32(e))
		fork += choose2(du-1)*(dv-1) + choose2(dv-1)*(du-1)
		tadpole += (tv[u]-te)*(dv-1) + (tv[v]-te)*(du-1)
		bull += te * (du - 2) * (dv - 2)
		dart += choose2(te) * (du + dv - 6)
		book += choose3(te)
		cliqueEar += s.t4[e] * (te - 2)
		for _, x := range s.trianglesOn(int32(e)) {
			kite += (te - 1) * (s.d[x.x] - 2)
			gem += (s.t(x.ux) - 1) * (s.t(x.vx) - 1) // the two edges at x; e is opposite
		}
	}

	cycle, banner, bipartite, house, halfWheel, wheel, err := s.aroundVertices(ctx, tv)
	if err != nil {
		return err
	}
	sub[t.typeOf("01 02 03 04")] = star
	sub[t.typeOf("01 02 03 34")] = fork - 2*paw
	sub[t.typeOf("01 12 23 34")] = path + 9*triangles - 4*cycle4
	sub[t.typeOf("01 12 23 34 04")] = cycle
	sub[t.typeOf("01 12 23 03 04")] = banner - 2*diamond
	sub[t.typeOf("01 12 02 03 34")] = tadpole - 4*diamond
	sub[t.typeOf("01 12 02 03 04")] = cricket
	sub[t.typeOf("01 12 02 03 14")] = bull - 2*diamond
	sub[t.typeOf("02 03 04 12 13 14")] = bipartite
	sub[t.typeOf("01 12 23 34 04 14")] = house - 4*diamond
	sub[t.typeOf("01 12 02 03 34 04")] = bowtie - 2*diamond
	sub[t.typeOf("01 02 12 03 13 04")] = dart
	sub[t.typeOf("01 02 12 03 13 24")] = kite - 12*c.four
	sub[t.typeOf("01 02 03 04 12 23 34")] = gem - 12*c.four
	sub[t.typeOf("01 02 12 03 13 04 14")] = book
	sub[t.typeOf("01 02 03 12 13 23 04")] = clique4tail
	sub[t.typeOf("02 03 04 12 13 14 23")] = halfWheel
	sub[t.typeOf("01 02 03 04 12 23 34 14")] = wheel
	sub[t.typeOf("01 02 03 12 13 23 04 14")] = cliqueEar
	sub[t.typeOf("01 02 03 12 13 23 04 14 24")] = c.pairs
	sub[t.typeOf("01 02 03 04 12 13 14 23 24 34")] = c.five
	return nil
}

// aroundVertices computes what needs the numbers of common neighbours:
//
//	cycle      5-cycles: ⅒ (tr A⁵ − 5 tr A³ − 5 Σ_v (d_v − 2) (A³)_vv)
//	banner     Σ_v q_v (d_v − 2)
//	bipartite  Σ_{u<v} C(w_uv, 3), complete bipartite graphs of 2 and 3 vertices
//	house      Σ_e t_e q_e
//	halfWheel  Σ_{diamonds} (w − 2), w of the two vertices that are not adjacent in it
//	wheel      ½ Σ_v Σ_{a<c in N(v)} C(|N(v) ∩ N(a) ∩ N(c)|, 2)
func (s *subgraphCounter) aroundVertices(ctx context.Context, tv []uint64) (cycle, banner, bipartite, house, halfWheel, wheel uint64, err error) {
	n := s.g.N()
	resized(&s.w, n)
	s.in = s.in[:0]
	var rim []int32
	rimCount := make([]uint64, n)
	shadow := 0.0 // most of tr A⁵ in floating point, to notice an overflow
	for v := range n {
		if v%32 == 0 {
			if err = ctx.Err(); err != nil {
				return
			}
		}
		s.common(v)
		qv, triples := uint64(0), uint64(0)
		for _, u := range s.in {
			qv += choose2(s.w[u])
			triples += choose3(s.w[u])
		}
		d := s.d[v]
		banner += qv * (d - 2)
		bipartite += triples
		for i, b := range s.g.Neighbors(v) {
			e := s.edge[s.off[v]+i]
			if te := s.t(e); te > 0 && int(b) > v {
				q := uint64(0)
				for _, u := range s.g.Neighbors(int(b)) {
					if int(u) != v {
						q += s.w[u] - 1
					}
				}
				house += te * q
			}
			for _, x := range s.trianglesOn(e) {
				vx := x.ux // the edge from v to x
				if int(b) < v {
					vx = x.vx
				}
				bx := x.ux ^ x.vx ^ vx
				if x.x > b {
					for _, y := range s.trianglesOn(bx) {
						if int(y.x) > v {
							halfWheel += s.w[y.x] - 2
						}
					}
				}
				// b and y lie opposite each other on a rim around v, next to x.
				for _, y := range s.trianglesOn(vx) {
					if y.x > b {
						if rimCount[y.x] == 0 {
							rim = append(rim, y.x)
						}
						rimCount[y.x]++
					}
				}
			}
			for _, y := range rim {
				wheel += choose2(rimCount[y])
				rimCount[y] = 0
			}
			rim = rim[:0]
		}
		// (A⁵)_vv = xᵀAx for x = A² e_v.
		s.w[v] = d
		walks := uint64(0)
		for _, p := range s.in {
			sum := s.sumOver(int(p))
			walks += s.w[p] * sum
			shadow += float64(s.w[p]) * float64(sum)
		}
		walks += d * s.sumOver(v)
		s.w[v] = 0
		cycle += walks - 5*2*tv[v] - 5*(d-2)*2*tv[v]
		if shadow > 1<<62 {
			err = errSubgraphs
			return
		}
	}
	return cycle / 10, banner, bipartite / 2, house, halfWheel, wheel / 2, nil
}

// sumOver returns the sum of w over the neighbours of p.
func (s *subgraphCounter) sumOver(p int) uint64 {
	sum := uint64(0)
	for _, q := range s.g.Neighbors(p) {
		sum += s.w[q]
	}
	return sum
}
