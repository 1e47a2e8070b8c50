package main

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"lethe"
)

// dgi is Deep Graph Infomax (Veličković et al., ICLR 2019), with which Inspection-L (Lo et
// al., 2023) embeds Elliptic: an encoder learns without labels to tell the nodes of a
// graph from those of the same graph with its rows exchanged. Its one layer is
// h = relu([x ‖ mean of the neighbours' x]·W + b), a node's score hᵀ·M·s, and s the
// logistic function of the mean of all h.
type dgi struct {
	// encode is W with b as its last row, weigh is M.
	encode, weigh *mat.Dense
	adam          [2]adam
	seed          uint64
}

func newDGI(features, width int, seed uint64) *dgi {
	draw := lethe.NewDraw(seed, "stack/dgi")
	random := func(rows, columns int) *mat.Dense {
		m := mat.NewDense(rows, columns, nil)
		scale := math.Sqrt(2 / float64(rows+columns)) // Glorot and Bengio 2010
		m.Apply(func(int, int, float64) float64 { return scale * draw.Normal() }, m)
		return m
	}
	return &dgi{encode: random(2*features+1, width), weigh: random(width, width), seed: seed}
}

// surroundings joins to every row the mean of its neighbours' rows, zeros without any,
// and a one.
func surroundings(x *mat.Dense, neighbours [][]uint32) *mat.Dense {
	n, f := x.Dims()
	out := mat.NewDense(n, 2*f+1, nil)
	for i := range n {
		row := out.RawRowView(i)
		copy(row, x.RawRowView(i))
		for _, j := range neighbours[i] {
			for k, v := range x.RawRowView(int(j)) {
				row[f+k] += v / float64(len(neighbours[i]))
			}
		}
		row[2*f] = 1
	}
	return out
}

// embed returns the encoder's rows for surroundings.
func (d *dgi) embed(z *mat.Dense) *mat.Dense {
	var h mat.Dense
	h.Mul(z, d.encode)
	h.Apply(func(_, _ int, v float64) float64 { return max(v, 0) }, &h)
	return &h
}

// gradients returns the mean cross-entropy of true and exchanged nodes, and its
// gradients by encode and weigh.
func (d *dgi) gradients(truth, exchanged *mat.Dense) (loss float64, byEncode, byWeigh *mat.Dense) {
	parts, targets := [2]*mat.Dense{truth, exchanged}, [2]float64{1, 0}
	hidden := [2]*mat.Dense{d.embed(truth), d.embed(exchanged)}
	n, width := hidden[0].Dims()
	summary := mat.NewVecDense(width, nil)
	for k := range width {
		summary.SetVec(k, sigmoid(mat.Sum(hidden[0].ColView(k))/float64(n)))
	}
	var weighed, byWeighed, bySummary mat.VecDense
	weighed.MulVec(d.weigh, summary)
	byWeighed.ReuseAsVec(width)
	var byHidden [2]mat.Dense
	for p, h := range hidden {
		var score, step mat.VecDense
		score.MulVec(h, &weighed)
		for i := range n {
			z := score.AtVec(i)
			loss += (math.Max(z, 0) - z*targets[p] + math.Log1p(math.Exp(-math.Abs(z)))) / float64(2*n)
			score.SetVec(i, (sigmoid(z)-targets[p])/float64(2*n))
		}
		step.MulVec(h.T(), &score)
		byWeighed.AddVec(&byWeighed, &step)
		byHidden[p].Outer(1, &score, &weighed)
	}
	byWeigh = mat.NewDense(width, width, nil)
	byWeigh.Outer(1, &byWeighed, summary)
	bySummary.MulVec(d.weigh.T(), &byWeighed)
	byHidden[0].Apply(func(_, k int, v float64) float64 {
		s := summary.AtVec(k)
		return v + bySummary.AtVec(k)*s*(1-s)/float64(n)
	}, &byHidden[0])
	byEncode = mat.NewDense(d.encode.RawMatrix().Rows, width, nil)
	for p := range byHidden {
		byHidden[p].Apply(func(i, k int, v float64) float64 {
			if hidden[p].At(i, k) > 0 {
				return v
			}
			return 0
		}, &byHidden[p])
		var step mat.Dense
		step.Mul(parts[p].T(), &byHidden[p])
		byEncode.Add(byEncode, &step)
	}
	return loss, byEncode, byWeigh
}

// learn goes on from where the encoder is with the graph of one timestep.
func (d *dgi) learn(x *mat.Dense, neighbours [][]uint32, timestep lethe.Timestep, epochs int) {
	n, f := x.Dims()
	if n < 2 {
		return
	}
	truth, exchanged := surroundings(x, neighbours), mat.NewDense(n, f, nil)
	order := make([]int, n)
	for epoch := range epochs {
		draw := lethe.NewDraw(d.seed, "stack/dgi/exchange", uint64(timestep), uint64(epoch))
		for i := range order {
			j := draw.IntN(i + 1)
			order[i], order[j] = order[j], i
		}
		for i, from := range order {
			exchanged.SetRow(i, x.RawRowView(from))
		}
		_, byEncode, byWeigh := d.gradients(truth, surroundings(exchanged, neighbours))
		d.adam[0].step(d.encode, byEncode)
		d.adam[1].step(d.weigh, byWeigh)
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
