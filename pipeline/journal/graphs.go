package journal

import (
	"fmt"

	"lethe"
)

// FeaturesDecided is the number of features of the stream. The journal has it because a store of graphs that was lost
// needs the same number, and the transaction that determined it may be erased by then.
type FeaturesDecided struct {
	Count int `json:"count"`
}

func (FeaturesDecided) kind() string { return "features_decided" }

func (d FeaturesDecided) valid() error {
	if d.Count < 1 {
		return fmt.Errorf("%d features", d.Count)
	}
	return nil
}

// TimestepsChanged lists timesteps that are closed, settled and reopened, in this order, and the artefacts published
// of them.
type TimestepsChanged struct {
	Closed   []lethe.Timestep `json:"closed,omitempty"`
	Settled  []lethe.Timestep `json:"settled,omitempty"`
	Reopened []lethe.Timestep `json:"reopened,omitempty"`
	// Graphs, Manifests and Removed are published after the entry.
	Graphs    []Artefact `json:"graphs,omitempty"`
	Manifests []Artefact `json:"manifests,omitempty"`
	Removed   []Artefact `json:"removed,omitempty"`
	// Unsent are timesteps of previous entries that are not completely published.
	Unsent []lethe.Timestep `json:"unsent,omitempty"`
}

func (TimestepsChanged) kind() string { return "timesteps_changed" }

// Publishes reports whether something is published.
func (d TimestepsChanged) Publishes() bool { return len(d.Graphs)+len(d.Manifests)+len(d.Removed) > 0 }

// Digests returns the number of digests in the entry.
func (d TimestepsChanged) Digests() (n int) {
	for _, a := range d.Manifests {
		n += len(a.Slices)
	}
	return n + len(d.Graphs) + len(d.Manifests)
}

// Artefact is a published graph, or a manifest with its slices.
type Artefact struct {
	Timestep lethe.Timestep `json:"timestep"`
	Revision lethe.Revision `json:"revision"`
	Digest   lethe.Digest   `json:"digest,omitzero"`
	Slices   []lethe.Digest `json:"slices,omitempty"`
}

// Suppressed are keyed hashes of targets whose records are dropped from now on.
type Suppressed struct {
	Targets  []lethe.Digest       `json:"targets,omitempty"`
	Subjects []lethe.SubjectUntil `json:"subjects,omitempty"`
	Redacted []lethe.Redaction    `json:"redacted,omitempty"`
}

func (Suppressed) kind() string { return "suppressed" }

// Lifted are keyed hashes of targets that are no longer suppressed; of subjects, from a timestep on.
type Lifted struct {
	Targets  []lethe.Digest       `json:"targets,omitempty"`
	Subjects []lethe.SubjectUntil `json:"subjects,omitempty"`
}

func (Lifted) kind() string { return "lifted" }

// Rewritten deletes the targets of requests from the graphs.
type Rewritten struct {
	// Requests are the digests of the requests.
	Requests []lethe.Digest `json:"requests"`
	Replaced []Replaced     `json:"replaced,omitempty"`
}

// Replaced is a timestep with replaced slices.
type Replaced struct {
	Timestep lethe.Timestep  `json:"timestep"`
	Shards   []lethe.ShardID `json:"shards,omitempty"`
	Revision lethe.Revision  `json:"revision,omitempty"`
	// Repartitioned means that it is partitioned again, Renewed that it gets a new revision though nothing is deleted
	// from it.
	Repartitioned bool `json:"afresh,omitempty"`
	Renewed       bool `json:"anew,omitempty"`
}

func (Rewritten) kind() string { return "rewritten" }
