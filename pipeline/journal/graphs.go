package journal

import (
	"fmt"

	"lethe"
)

// FeaturesDecided is the number of features of the stream. It stands in the journal so that a lost store of graphs gets
// the same one: the transactions that told it may be erased by then.
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

// ChangesStore reports whether a decision is what a store of graphs or score is a function of, with names under the
// secret and positions in the topics.
func ChangesStore(d Decision) bool {
	switch d.(type) {
	case Consumed, Explained, TimestepsChanged, Suppressed, Lifted, Rewritten:
		return true
	default:
		return false
	}
}

// Consumed is a batch of a partition: of transactions or labels, which goes into the graphs, or of what score takes. It
// is the records from where the last one of the partition ended.
type Consumed struct {
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Next      int64  `json:"next"`
	// Bounded says that the batch refuses records that begin too many timesteps.
	Bounded bool `json:"bounded,omitempty"`
	// Dropped are the offsets of records that name something erased beside what is taken of them.
	Dropped []int64 `json:"dropped,omitempty"`
}

func (Consumed) kind() string { return "consumed" }

func (d Consumed) valid() error {
	if d.Topic == "" || d.Partition < 0 || d.Next < 0 {
		return fmt.Errorf("partition %d of topic %.40q up to %d", d.Partition, d.Topic, d.Next)
	}
	return nil
}

// TimestepsChanged is what becomes of timesteps, in the order of its fields, and what is published of that.
type TimestepsChanged struct {
	Closed   []lethe.Timestep `json:"closed,omitempty"`
	Settled  []lethe.Timestep `json:"settled,omitempty"`
	Reopened []lethe.Timestep `json:"reopened,omitempty"`
	// Graphs, Manifests and Removed are published once the entry is read back.
	Graphs    []Artefact `json:"graphs,omitempty"`
	Manifests []Artefact `json:"manifests,omitempty"`
	Removed   []Artefact `json:"removed,omitempty"`
	// Unsent are timesteps of entries before, of which something is still being published.
	Unsent []lethe.Timestep `json:"unsent,omitempty"`
}

func (TimestepsChanged) kind() string { return "timesteps_changed" }

func (TimestepsChanged) valid() error { return nil }

// Publishes reports whether something is published.
func (d TimestepsChanged) Publishes() bool { return len(d.Graphs)+len(d.Manifests)+len(d.Removed) > 0 }

// Digests counts those in the entry.
func (d TimestepsChanged) Digests() (n int) {
	for _, a := range d.Manifests {
		n += len(a.Slices)
	}
	return n + len(d.Graphs) + len(d.Manifests)
}

// Artefact is what is published of a timestep: a graph, or a manifest with the slices that it names.
type Artefact struct {
	Timestep lethe.Timestep `json:"timestep"`
	Revision lethe.Revision `json:"revision"`
	Digest   lethe.Digest   `json:"digest,omitzero"`
	Slices   []lethe.Digest `json:"slices,omitempty"`
}

// Suppressed are keyed hashes of what is taken no more.
type Suppressed struct {
	Targets  []lethe.Digest       `json:"targets,omitempty"`
	Subjects []lethe.SubjectUntil `json:"subjects,omitempty"`
	Redacted []lethe.Redaction    `json:"redacted,omitempty"`
}

func (Suppressed) kind() string { return "suppressed" }

func (Suppressed) valid() error { return nil }

// Lifted are keyed hashes of what is taken again; of the subjects, what comes after a timestep.
type Lifted struct {
	Targets  []lethe.Digest       `json:"targets,omitempty"`
	Subjects []lethe.SubjectUntil `json:"subjects,omitempty"`
}

func (Lifted) kind() string { return "lifted" }

func (Lifted) valid() error { return nil }

// Rewritten has the targets of requests go from the graphs.
type Rewritten struct {
	// Requests are the digests of the requests' content.
	Requests []lethe.Digest `json:"requests"`
	Replaced []Replaced     `json:"replaced,omitempty"`
}

// Replaced is a timestep of which slices are replaced.
type Replaced struct {
	Timestep lethe.Timestep  `json:"timestep"`
	Shards   []lethe.ShardID `json:"shards,omitempty"`
	Revision lethe.Revision  `json:"revision,omitempty"`
	// Afresh says that it is partitioned again, Anew that it gets a new revision though nothing of it goes.
	Afresh bool `json:"afresh,omitempty"`
	Anew   bool `json:"anew,omitempty"`
}

func (Rewritten) kind() string { return "rewritten" }

func (Rewritten) valid() error { return nil }
