package graphs

import (
	"lethe/deletions/translog"
	"lethe/pipeline/wire"
)

// dispatchBytes is from how much on what was put together is sent: each sending waits for
// the brokers.
const dispatchBytes = 4 << 20

// dispatch is what is published together: graphs and slices, then the manifests that name
// these, then the marks that say so, and at last what the log says of the slices.
type dispatch struct {
	graphs, slices, manifests []wire.Message
	marks                     []publishedMark
	// leaves commit to the slices.
	leaves []translog.Leaf
	bytes  int
}

type publishedMark struct{ key, value []byte }

func (d *dispatch) graph(m wire.Message) {
	d.graphs = append(d.graphs, m)
	d.bytes += len(m.Payload)
}

func (d *dispatch) slice(m wire.Message) {
	d.slices = append(d.slices, m)
	d.bytes += len(m.Payload)
}

func (d *dispatch) note(key, value []byte) { d.marks = append(d.marks, publishedMark{key, value}) }

// send publishes what was put together, and empties it. Interrupted, it is repeated: no mark
// is there before what it stands for.
func (p *publisher) send(d *dispatch) error {
	for _, messages := range [][]wire.Message{d.graphs, d.slices, d.manifests} {
		if len(messages) == 0 {
			continue
		}
		if err := p.publish(messages...); err != nil {
			return err
		}
	}
	for _, m := range d.marks {
		if err := p.store.Marks().Put(m.key, m.value); err != nil {
			return err
		}
	}
	if err := p.commitments.slices(d.leaves); err != nil {
		return err
	}
	*d = dispatch{}
	return nil
}
