package score

import (
	"errors"
	"fmt"

	"lethe"
	"lethe/pipeline/role"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// artefact is what a message of models.v1 holds: a checkpoint, or the meta-model over
// the checkpoints of its timestep.
type artefact struct {
	checkpoint *trainer.Checkpoint
	over       *meta.Model
}

// decodeArtefact reads the payload of a message. isMeta says what it should be.
func decodeArtefact(payload []byte, isMeta bool) (a artefact, err error) {
	if isMeta {
		a.over, err = meta.Decode(payload)
	} else {
		a.checkpoint, err = trainer.DecodeCheckpoint(payload)
	}
	return a, err
}

// place returns the timestep and the number that the payload says it has. A meta-model
// does not say its number.
func (a artefact) place(number lethe.ShardID) (lethe.Timestep, lethe.ShardID) {
	switch {
	case a.over != nil:
		return a.over.Timestep, number
	case a.checkpoint != nil:
		return a.checkpoint.Timestep, a.checkpoint.Shard
	default:
		return 0, 0
	}
}

func (a artefact) lineage() lethe.Digest {
	if a.over != nil {
		return a.over.Lineage
	}
	return a.checkpoint.Lineage
}

// artefactOf reads a stored model.
func artefactOf(store role.Store, m model, isMeta bool) (artefact, error) {
	value, found, err := store.Get(m.key())
	if err == nil && !found {
		err = errors.New("it is missing")
	}
	var a artefact
	if err == nil {
		a, err = decodeArtefact(value, isMeta)
	}
	if err != nil {
		return a, fmt.Errorf("model %d after timestep %d: %w", m.shard, m.timestep, err)
	}
	return a, nil
}
