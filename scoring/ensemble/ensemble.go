package ensemble

import (
	"fmt"

	"lethe"
	"lethe/scoring"
	"lethe/trainer"
)

// Ensemble is one model per shard, all after the same timestep. It is never
// changed.
type Ensemble struct {
	// Through is the timestep that the models were trained through.
	Through lethe.Timestep
	// Version names the ensemble: the hash of all checkpoints in shard order.
	Version lethe.Digest
	// Models are by shard.
	Models []*trainer.Checkpoint
}

// Of returns the ensemble of models, one per shard. The error wraps
// trainer.ErrIncompatible if there is none, one is missing or they are not after
// one timestep.
func Of(models []*trainer.Checkpoint) (*Ensemble, error) {
	if len(models) == 0 || models[0] == nil {
		return nil, fmt.Errorf("%w: ensemble without a model of shard 0", trainer.ErrIncompatible)
	}
	e := &Ensemble{Through: models[0].Timestep, Models: models}
	digests := make([]lethe.Digest, len(models))
	for shard, m := range models {
		if m == nil || m.Timestep != e.Through {
			return nil, fmt.Errorf("%w: ensemble through timestep %d without a model of shard %d after it",
				trainer.ErrIncompatible, e.Through, shard)
		}
		digests[shard] = trainer.DigestCheckpoint(m)
	}
	e.Version = scoring.EnsembleVersion(digests)
	return e, nil
}

// Fits reports whether every model has the lineage that is wanted of its shard.
func (e *Ensemble) Fits(want []lethe.Digest) bool {
	if len(want) != len(e.Models) {
		return false
	}
	for shard, m := range e.Models {
		if m.Lineage != want[shard] {
			return false
		}
	}
	return true
}
