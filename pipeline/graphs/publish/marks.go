// Package publish publishes graphs, slices and manifests from the store, and stores marks of them.
//
//	marks.go      marks: the published revisions and digests
//	decisions.go  the journal before each change
//	dispatch.go   messages that are sent together
//	encoder.go    graphs, slices and manifests as bytes
//	publisher.go  sending and deleting
//	again.go      sending again after a crash or a take-over
//	adopt.go      marks in a standby
package publish

import (
	"encoding/binary"
	"fmt"
	"slices"

	"lethe"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// Kind is a kind of mark.
type Kind string

// A mark of a graph holds revision and digest; that of a manifest, revision, digests of the slices, and its own digest.
const (
	Graph    Kind = "published/graph/"
	Manifest Kind = "published/manifest/"
	Gone     Kind = "published/gone/"
)

// Mark returns the mark of a published revision.
func (k Kind) Mark(t lethe.Timestep, r lethe.Revision, digests ...lethe.Digest) snapshot.Mark {
	value := binary.BigEndian.AppendUint32(nil, uint32(r))
	for _, d := range digests {
		value = append(value, d[:]...)
	}
	return snapshot.Mark{Key: fmt.Appendf(nil, "%s%d", k, t), Value: value}
}

// Of returns the last published revision of a timestep, or 0, and its digests.
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

// SlicesOf returns the digests of the slices in the last published manifest.
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

// MarksOf returns the marks of an entry.
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

// unsentOf returns the timesteps of the last entry, and those of previous entries that were not published.
func unsentOf(store *snapshot.Store) (out []lethe.Timestep, err error) {
	value, _, err := store.Marks().Get(unsentMark())
	for ; len(value) > 0; value = value[8:] {
		out = append(out, lethe.Timestep(binary.BigEndian.Uint64(value)))
	}
	slices.Sort(out)
	return slices.Compact(out), err
}
