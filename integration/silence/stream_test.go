package silence_test

import (
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lethe"
	"lethe/service/waiting"
)

// streamStops are those of a stream whose timesteps do not end.
func streamStops() []stop {
	return []stop{
		{"partition without records", waiting.PartitionBehind, "partition 1 has not passed it", false,
			func(d *deployment) func() {
				at := d.next()
				d.some(at, 0)
				d.close(at, 0)
				return func() { d.close(at, 1); d.settle(at, 0, 1) }
			}},
		{"no close record for one partition", waiting.PartitionBehind, "partition 0 has not passed it", false,
			func(d *deployment) func() {
				at := d.next()
				d.some(at, 0, 1)
				d.close(at, 1)
				return func() { d.close(at, 0); d.settle(at, 0, 1) }
			}},
		{"settle record missing in one partition", waiting.LabelsUnsettled, "partition 0 has no settle", false,
			halfSettled},
		{"labels that are never settled while later ones come", waiting.LabelsUnsettled, "partition 0 has no settle", false,
			neverSettled},
		{"timesteps without labels", waiting.LabelsUnsettled, "no label of it has come", false, unlabelled},
		{"open transaction of payments", waiting.OpenTransaction, "transactions.v1 partition 0", false,
			openTransaction(transactions, 0)},
		{"open transaction of labels", waiting.OpenTransaction, "labels.v1 partition 1", false, openTransaction(labels, 1)},
		{"clock of a producer that is ahead", waiting.ClockAhead, "ahead of this machine's clock", false, clockAhead},
		{"producer that died within a timestep", waiting.StreamQuiet, "nothing comes", false, func(d *deployment) func() {
			at := d.next()
			d.some(at, 0, 1)
			return func() { d.finish(at) }
		}},
	}
}

// busyBehind has records come to a partition that does not pass a timestep.
func busyBehind(d *deployment) func() {
	at := d.next()
	d.some(at, 0, 1)
	d.close(at, 0)
	end := d.repeatedly(func() { d.send(d.transaction(at, 1)) })
	return func() {
		end()
		d.close(at, 1)
		d.settle(at, 0, 1)
	}
}

// halfSettled has one partition of labels settle a timestep.
func halfSettled(d *deployment) func() {
	at := d.next()
	d.some(at, 0, 1)
	d.label(at, 12)
	d.close(at, 0, 1)
	d.settle(at, 1)
	return func() { d.settle(at, 0) }
}

// neverSettled has labels of later timesteps come to partition 1 all the time.
func neverSettled(d *deployment) func() {
	from := d.next()
	d.some(from, 0, 1)
	d.label(from, 12)
	d.close(from, 0, 1)
	d.some(d.next(), 0, 1)
	last := d.sent
	d.close(d.at, 0, 1)
	end := d.repeatedly(func() {
		d.sent = last // the labels of the same transactions again
		d.label(d.at, 2)
	})
	return func() {
		end()
		d.settle(from, 0, 1)
		d.settle(d.at, 0, 1)
	}
}

// repeatedly calls a function until it is ended.
func (d *deployment) repeatedly(do func()) (end func()) {
	done := make(chan struct{})
	var doing sync.WaitGroup
	doing.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				do()
			}
		}
	})
	end = sync.OnceFunc(func() { close(done); doing.Wait() })
	d.t.Cleanup(end)
	return end
}

// unlabelled closes timesteps of which no label comes.
func unlabelled(d *deployment) func() {
	from := d.next()
	for range 3 {
		d.some(d.at, 0, 1)
		d.close(d.at, 0, 1)
		d.next()
	}
	return func() {
		for at := from; at < d.at; at++ {
			d.settle(at, 0, 1)
		}
		d.whole()
	}
}

// openTransaction has a producer begin a transaction, and abort it.
func openTransaction(topic string, partition int) func(d *deployment) func() {
	return func(d *deployment) func() {
		producer := producerOf(d.t, d.Brokers, kgo.TransactionalID(topic), kgo.TransactionTimeout(10*time.Minute))
		require.NoError(d.t, producer.BeginTransaction())
		r := record(topic, partition, []byte("k"), []byte("v"))
		require.NoError(d.t, producer.ProduceSync(d.t.Context(), r).FirstErr())
		return func() { require.NoError(d.t, producer.EndTransaction(d.t.Context(), kgo.TryAbort)) }
	}
}

// clockAhead sends a record of tomorrow.
func clockAhead(d *deployment) func() {
	at := d.next()
	d.some(at, 0, 1)
	r := d.transaction(at, 1)
	r.Timestamp = time.Now().Add(2 * time.Hour)
	d.send(r)
	return func() { d.finish(at) }
}

// boundedStops are those of a stream that reaches bounds.
func boundedStops() []stop {
	return []stop{
		{"as many timesteps are open as may be", waiting.TooManyOpen, "timesteps are open", false,
			func(d *deployment) func() {
				from := d.at + 1
				for range 7 {
					d.some(d.next(), 0, 1)
				}
				return func() {
					for ; from <= d.at; from++ {
						d.finish(from)
					}
				}
			}},
		{"payments whose transactions never come", waiting.TooManyWaiting, "too many wait", false,
			func(d *deployment) func() {
				for n := range 40 {
					d.send(d.payment(lethe.TransactionID(fmt.Sprintf("absent-%d", n)), d.id(d.sent)))
				}
				return func() { d.whole(); d.whole() }
			}},
	}
}
