package repair

import (
	"math"

	"lethe"
)

// lambdas draws the λ of stubs. Every draw is keyed only by the pair that its stub represents, so
// that removing a node changes no other node's stubs.
type lambdas struct {
	Config
	timestep lethe.Timestep
}

// forNeighbour returns the λ of owner's stub for a neighbour in another shard.
// The pair is ordered: the stub at the other end draws its own.
func (l *lambdas) forNeighbour(owner, missing lethe.Pseudonym) float32 {
	ownerHi, ownerLo := owner.Coordinates()
	missingHi, missingLo := missing.Coordinates()
	return l.draw("mixup", ownerHi, ownerLo, missingHi, missingLo)
}

// StubFor returns the λ of owner's stub for a neighbour in another shard at a timestep, and
// whether λ identifies the neighbour: a constant λ does not.
func (c Config) StubFor(t lethe.Timestep, owner, missing lethe.Pseudonym) (lambda float32, identifies bool) {
	l := lambdas{Config: c, timestep: t}
	return l.forNeighbour(owner, missing), c.Method == MixUp
}

// forExtra returns the λ of owner's extra stub with an index, counted from 0.
func (l *lambdas) forExtra(owner lethe.Pseudonym, index int) float32 {
	hi, lo := owner.Coordinates()
	return l.draw("mixup-extra", hi, lo, uint64(index))
}

func (l *lambdas) draw(purpose string, coords ...uint64) float32 {
	switch l.Method {
	case Zero:
		return 0
	case Mirror:
		return 1
	default:
		coords = append([]uint64{uint64(l.timestep)}, coords...)
		tau := float32(l.Tau)
		// Rounding the product may give tau, which the interval excludes.
		return min(lethe.NewDraw(l.Seed, purpose, coords...).Float32()*tau, math.Nextafter32(tau, 0))
	}
}
