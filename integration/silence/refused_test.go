package silence_test

import (
	"bytes"
	"fmt"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service/waiting"
)

// refusedStops are those of producers whose records are rejected.
func refusedStops() []stop {
	value := func(change func(value string) string) func(d *deployment) *kgo.Record {
		return func(d *deployment) *kgo.Record {
			r := d.transaction(d.at, 0)
			r.Value = []byte(change(string(r.Value)))
			return r
		}
	}
	row := func(width int) func(d *deployment) *kgo.Record {
		return func(d *deployment) *kgo.Record {
			key, value, err := ingest.EncodeTransaction(lethe.Transaction{
				ID: d.name(0), Timestep: d.at, Features: make([]float32, width),
			})
			require.NoError(d.t, err)
			return record(transactions, 0, key, value)
		}
	}
	return []stop{
		refused("every row is of another schema", "as unknown_type",
			value(func(string) string { return `{"type":"order"}` })),
		refused("one feature more", "as feature_count", row(features+1)),
		refused("one feature less", "as feature_count", row(features-1)),
		refused("a serializer that writes a magic byte", "as unparseable",
			value(func(v string) string { return "\x00\x00\x00\x00\x09" + v })),
		refused("ids with spaces, as of a spreadsheet", "as bad_id", func(d *deployment) *kgo.Record {
			r := d.transaction(d.at, 0)
			before := r.Key
			r.Key = bytes.ReplaceAll(before, []byte("-"), []byte(" "))
			r.Value = bytes.ReplaceAll(r.Value, before, r.Key)
			return r
		}),
		refused("labels of an unknown class", "as unknown_label", unknownLabel),
		refused("records without a key", "as missing_key", func(d *deployment) *kgo.Record {
			r := d.transaction(d.at, 0)
			r.Key = nil
			return r
		}),
		{"dead letters pile up among good records", waiting.RecordsRejected, "as unparseable", false,
			func(d *deployment) func() {
				at := d.next()
				for range 10 {
					d.send(record(transactions, 0, []byte("k"), []byte("{")))
				}
				d.some(at, 0, 1)
				return func() { d.finish(at); d.whole() }
			}},
		few("few dead letters among good records", waiting.RecordsRejected, "as unparseable",
			func(*deployment) *kgo.Record { return record(transactions, 0, []byte("k"), []byte("{")) }),
		few("few records beyond a gap", waiting.TimestepGap, "3 of them as timestep_jump",
			func(d *deployment) *kgo.Record { return d.transaction(d.at+5000, 0) }),
		{"a gap in the timesteps", waiting.TimestepGap, "as timestep_jump", false, func(d *deployment) func() {
			for range 40 {
				d.send(d.transaction(d.at+5000, 0))
			}
			return d.whole
		}},
	}
}

// refused has many records of one kind come, and then good ones.
func refused(name, says string, one func(d *deployment) *kgo.Record) stop {
	return stop{name, waiting.RecordsRejected, says, false, func(d *deployment) func() {
		for range 40 {
			d.send(one(d))
		}
		return d.whole
	}}
}

// few has three records of one kind come amid good ones.
func few(name string, cause waiting.Cause, says string, one func(d *deployment) *kgo.Record) stop {
	return stop{name, cause, says, false, func(d *deployment) func() {
		at := d.next()
		d.some(at, 0, 1)
		for range 3 {
			d.send(one(d))
		}
		d.some(at, 0, 1)
		return func() { d.finish(at); d.whole() }
	}}
}

// lateStops are those where late records are rejected.
func lateStops() []stop {
	return []stop{
		refused("nothing but late records", "as late", func(d *deployment) *kgo.Record { return d.transaction(1, 0) }),
	}
}

func unknownLabel(d *deployment) *kgo.Record {
	value := fmt.Appendf(nil, `{"type":"label","id":"%s","timestep":1,"label":"fraud"}`, d.id(1))
	return record(labels, bus.PartitionOf([]byte(d.id(1)), partitions), []byte(d.id(1)), value)
}
