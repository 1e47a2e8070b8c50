package attack

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"lethe"
	"lethe/dataset"
	"lethe/lab/attack/roc"
)

// pair asks whether there was a payment between a target and a transaction that
// is still there.
type pair struct {
	target  lethe.TransactionID
	other   lethe.TransactionID
	edge    bool
	cluster int
}

// pairsOf lists the former edges of the members, or of the outsiders, to
// transactions that are left, and as many pairs of the same targets without an
// edge. The second ends of those are ends of random payments of the timestep,
// so that both kinds have equal degrees on average.
func (sc *scenario) pairsOf(members bool, seed uint64) []pair {
	var out []pair
	for s := range sc.stream.Steps {
		step := &sc.stream.Steps[s]
		near, ends := sc.neighbourhoods(step)
		if len(ends) == 0 {
			continue
		}
		for i, t := range sc.targets {
			if t.member != members || t.at != step.Timestep {
				continue
			}
			draw := lethe.NewDraw(seed, "edge-pairs", uint64(i))
			seen := make(map[lethe.TransactionID]bool)
			for _, other := range near[t.id] {
				if sc.gone[other] || seen[other] {
					continue
				}
				seen[other] = true
				out = append(out, pair{t.id, other, true, i})
				if other, found := drawNonNeighbour(draw, ends, near[t.id], t.id); found {
					out = append(out, pair{t.id, other, false, i})
				}
			}
		}
	}
	return out
}

// neighbourhoods lists every transaction's neighbours, in the order of the
// payments, and the ends of all payments between transactions that are left.
func (sc *scenario) neighbourhoods(step *dataset.Step) (
	near map[lethe.TransactionID][]lethe.TransactionID, ends []lethe.TransactionID,
) {
	near = make(map[lethe.TransactionID][]lethe.TransactionID)
	held := make(map[lethe.TransactionID]bool, len(step.Transactions))
	for _, tx := range step.Transactions {
		held[tx.ID] = true
	}
	for _, p := range step.Payments {
		if p.Source == p.Target || !held[p.Source] || !held[p.Target] {
			continue
		}
		near[p.Source] = append(near[p.Source], p.Target)
		near[p.Target] = append(near[p.Target], p.Source)
		for _, end := range []lethe.TransactionID{p.Source, p.Target} {
			if !sc.gone[end] {
				ends = append(ends, end)
			}
		}
	}
	return near, ends
}

// otherDraws bounds the search for a transaction that is no neighbour: in a
// star there is none.
const otherDraws = 20

func drawNonNeighbour(
	d *lethe.Draw, ends, near []lethe.TransactionID, self lethe.TransactionID,
) (lethe.TransactionID, bool) {
	isNear := make(map[lethe.TransactionID]bool, len(near))
	for _, n := range near {
		isNear[n] = true
	}
	for range otherDraws {
		if e := ends[d.IntN(len(ends))]; e != self && !isNear[e] {
			return e, true
		}
	}
	return "", false
}

// edgeAttack scores how alike two posteriors are (He et al. 2021, attack 0). A
// posterior here is the vector of what the shards' models say: with two classes
// alone there would be little to compare.
type edgeAttack struct {
	name  string
	alike func(a, b []float64) float64
}

func edgeAttacks() []edgeAttack {
	return []edgeAttack{
		{"edge-correlation", func(a, b []float64) float64 {
			c := stat.Correlation(logOdds(a), logOdds(b), nil)
			if math.IsNaN(c) { // one shard, or all of one opinion
				return 0
			}
			return c
		}},
		{"edge-distance", func(a, b []float64) float64 { return -euclidean(a, b) }},
	}
}

// score scores pairs.
func (e edgeAttack) score(pairs []pair, a answers) []roc.Sample {
	out := make([]roc.Sample, len(pairs))
	for i, p := range pairs {
		out[i] = roc.Sample{Score: e.alike(a[p.target].shards, a[p.other].shards), Positive: p.edge, Cluster: p.cluster}
	}
	return out
}

// least keeps log odds finite.
const least = 1e-6

func logOdds(probabilities []float64) []float64 {
	out := make([]float64, len(probabilities))
	for i, p := range probabilities {
		p = min(max(p, least), 1-least)
		out[i] = math.Log(p / (1 - p))
	}
	return out
}
