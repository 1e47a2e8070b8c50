package trainer

import (
	"math"

	"lethe"
	"lethe/canonical"
)

// Fingerprint returns a digest of every part of the configuration that a checkpoint depends on.
func (c Config) Fingerprint() lethe.Digest {
	w := canonical.NewDigester("LOPT", 2)
	writeArchitecture(w, c.Architecture(0))
	for _, v := range []float64{c.Dropout, c.AttentionLoss, c.EdgeRatio, c.NegativeRatio} {
		w.Uint64(math.Float64bits(v))
	}
	w.Flag(c.DecoupledDecay)
	w.Uint64(math.Float64bits(c.LearningRate))
	w.Uint64(math.Float64bits(c.WeightDecay))
	w.String(c.classWeights())
	w.String(c.Schedule)
	w.Uint32(uint32(c.WindowTimesteps))
	w.Uint32(uint32(c.Passes))
	w.Uint32(uint32(c.Patience))
	w.Uint64(c.Seed)
	switch c.Model {
	case Trees:
		c.Trees.Append(w)
	case Logistic:
		c.Logistic.Append(w)
	case Blend:
		w.Uint64(math.Float64bits(c.Blend.Rate))
		for _, one := range c.components() {
			digest := one.Fingerprint()
			w.Bytes(digest[:])
		}
	}
	return w.Digest()
}
