package ensemble

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/scoring"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// Ensemble is all models after one timestep, and the meta-model that combines them. It is
// immutable.
type Ensemble struct {
	// Through is the timestep that the models were trained through.
	Through lethe.Timestep
	// Version identifies the ensemble: the hash of all checkpoints in their order, and of the
	// meta-model if there is one.
	Version lethe.Digest
	// Digests are the inputs of the version hash.
	Digests []lethe.Digest
	// Models are ordered by number.
	Models []*trainer.Checkpoint
	// Meta is nil for ensembles without a meta-model.
	Meta *meta.Model
}

// Of returns the ensemble of models in the order of their numbers, and of a
// meta-model or nil. The error wraps trainer.ErrIncompatible if there is no model, one
// is missing or they are not after one timestep.
func Of(models []*trainer.Checkpoint, over *meta.Model) (*Ensemble, error) {
	if len(models) == 0 || models[0] == nil {
		return nil, fmt.Errorf("%w: ensemble without a model 0", trainer.ErrIncompatible)
	}
	e := &Ensemble{Through: models[0].Timestep, Models: models, Meta: over}
	digests := make([]lethe.Digest, len(models))
	for shard, m := range models {
		if m == nil || m.Timestep != e.Through {
			return nil, fmt.Errorf("%w: ensemble through timestep %d without a model %d after it",
				trainer.ErrIncompatible, e.Through, shard)
		}
		digests[shard] = trainer.DigestCheckpoint(m)
	}
	if over != nil {
		if over.Timestep != e.Through {
			return nil, fmt.Errorf("%w: ensemble through timestep %d with a meta-model after %d",
				trainer.ErrIncompatible, e.Through, over.Timestep)
		}
		digests = append(digests, canonical.DigestOf(over.Encode()))
	}
	e.Digests, e.Version = digests, scoring.EnsembleVersion(digests)
	return e, nil
}

// Fits reports whether the models, followed by the meta-model if there is one, have the wanted
// lineages.
func (e *Ensemble) Fits(want []lethe.Digest) bool { return slices.Equal(e.Lineages(), want) }

// Lineages returns those of the models, followed by that of the meta-model if there is one.
func (e *Ensemble) Lineages() []lethe.Digest {
	var out []lethe.Digest
	for _, m := range e.Models {
		out = append(out, m.Lineage)
	}
	if e.Meta != nil {
		out = append(out, e.Meta.Lineage)
	}
	return out
}
