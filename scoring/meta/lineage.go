package meta

import (
	"lethe"
	"lethe/canonical"
)

// Lineage identifies the inputs of the meta-model after a timestep: the configuration, the lineages of all models
// after the timestep, and the slices that it learns from: those of the last Config.Timesteps settled timesteps, oldest
// first, one digest per shard. Two meta-models of one lineage, over models of one kernel set, have the same bytes.
func Lineage(c Config, models []lethe.Digest, window [][]lethe.Digest) lethe.Digest {
	w := canonical.NewDigester("LMLN", 1)
	fingerprint := c.Fingerprint()
	w.Bytes(fingerprint[:])
	w.Count(len(models))
	for _, d := range models {
		w.Bytes(d[:])
	}
	w.Count(len(window))
	for _, slices := range window {
		w.Count(len(slices))
		for _, d := range slices {
			w.Bytes(d[:])
		}
	}
	return w.Digest()
}
