package publish

import (
	"slices"

	"lethe/deletions/translog"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// dispatchBytes is the size from which a dispatch is sent: each sending waits for the brokers.
const dispatchBytes = 4 << 20

// MostInAnEntry bounds the digests in an entry of the journal, which is one record.
const MostInAnEntry = 4096

// Dispatch is published together: graphs and slices, then their manifests, then marks, then leaves of the log.
type Dispatch struct {
	graphs, slices, manifests []wire.Message
	// changes name the artefacts.
	changes journal.TimestepsChanged
	// leaves commit to the slices.
	leaves []translog.Leaf
	bytes  int
}

func (d *Dispatch) graph(m wire.Message) {
	d.graphs = append(d.graphs, m)
	d.bytes += len(m.Payload)
}

func (d *Dispatch) slice(m wire.Message) {
	d.slices = append(d.slices, m)
	d.bytes += len(m.Payload)
}

// add adds another dispatch.
func (d *Dispatch) add(other Dispatch) {
	d.graphs, d.slices = append(d.graphs, other.graphs...), append(d.slices, other.slices...)
	d.manifests = append(d.manifests, other.manifests...)
	d.changes.Graphs = append(d.changes.Graphs, other.changes.Graphs...)
	d.changes.Manifests = append(d.changes.Manifests, other.changes.Manifests...)
	d.leaves = append(d.leaves, other.leaves...)
	d.bytes += other.bytes
}

func (d *Dispatch) isFull() bool {
	return d.bytes >= dispatchBytes || d.changes.Digests() >= MostInAnEntry
}

// Messages are the lists to be sent, one after the other.
func (d *Dispatch) Messages() [][]wire.Message {
	return slices.DeleteFunc([][]wire.Message{d.graphs, d.slices, d.manifests}, func(list []wire.Message) bool {
		return len(list) == 0
	})
}
