// Package publish sends graphs, slices and manifests to the other roles, as they are in the store, and knows what was
// sent.
//
//	marks.go      what was published, and of which revision
//	decisions.go  what is written to the journal before it is done
//	dispatch.go   messages that go together
//	encoder.go    graphs, slices and manifests as bytes
//	publisher.go  what is sent, and deleted
//	again.go      what may not have been published before a crash or a change of the leader
package publish

import (
	"encoding/binary"
	"fmt"
	"slices"

	"lethe"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// Kind is what is published of a timestep.
type Kind string

// The mark of a graph has its digest behind its revision, that of a manifest the digests of the slices and its own.
const (
	Graph    Kind = "published/graph/"
	Manifest Kind = "published/manifest/"
	Gone     Kind = "published/gone/"
)

// Mark is the mark of the snapshot store that something was published of a timestep.
func (k Kind) Mark(t lethe.Timestep, r lethe.Revision, digests ...lethe.Digest) snapshot.Mark {
	value := binary.BigEndian.AppendUint32(nil, uint32(r))
	for _, d := range digests {
		value = append(value, d[:]...)
	}
	return snapshot.Mark{Key: fmt.Appendf(nil, "%s%d", k, t), Value: value}
}

// Of returns the revision that was published last of a timestep, or 0, and the digests behind it.
func (k Kind) Of(store *snapshot.Store, t lethe.Timestep) (r lethe.Revision, digests []lethe.Digest, err error) {
	value, found, err := store.Marks().Get(k.Mark(t, 0).Key)
	if err != nil || !found {
		return 0, nil, err
	}
	const revisionBytes = 4
	for d := range slices.Chunk(value[revisionBytes:], len(lethe.Digest{})) {
		digests = append(digests, lethe.Digest(d))
	}
	return lethe.Revision(binary.BigEndian.Uint32(value)), digests, nil
}

// SlicesOf returns the digests of the slices that the manifest published last names.
func SlicesOf(store *snapshot.Store, t lethe.Timestep, shards int) ([]lethe.Digest, error) {
	_, digests, err := Manifest.Of(store, t)
	if err == nil && len(digests) != shards+1 {
		err = fmt.Errorf("timestep %d: no manifest of %d slices was published", t, shards)
	}
	if err != nil {
		return nil, err
	}
	return digests[:shards], nil
}

func unsentMark() []byte { return []byte("unsent") }

// MarksOf are the marks of what an entry says is published.
func MarksOf(c journal.TimestepsChanged) (out []snapshot.Mark) {
	var unsent []byte
	add := func(kind Kind, list []journal.Artefact) {
		for _, a := range list {
			digests := slices.Clone(a.Slices)
			if !a.Digest.IsZero() {
				digests = append(digests, a.Digest)
			}
			out = append(out, kind.Mark(a.Timestep, a.Revision, digests...))
			unsent = binary.BigEndian.AppendUint64(unsent, uint64(a.Timestep))
		}
	}
	add(Graph, c.Graphs)
	add(Manifest, c.Manifests)
	add(Gone, c.Removed)
	if !c.Publishes() {
		return nil
	}
	for _, t := range c.Unsent {
		unsent = binary.BigEndian.AppendUint64(unsent, uint64(t))
	}
	return append(out, snapshot.Mark{Key: unsentMark(), Value: unsent})
}

// unsentOf are the timesteps that the last entry asks to publish, and those of entries before that were not.
func unsentOf(store *snapshot.Store) (out []lethe.Timestep, err error) {
	value, _, err := store.Marks().Get(unsentMark())
	for ; len(value) > 0; value = value[8:] {
		out = append(out, lethe.Timestep(binary.BigEndian.Uint64(value)))
	}
	slices.Sort(out)
	return slices.Compact(out), err
}
