package worlds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// row draws features, of which one may be missing. No three in sequence are those of
// another row.
func (d *drawing) row() []float32 {
	row := d.ownRow()
	d.rows = append(d.rows, row)
	return row
}

// ownRow is a row that no record of another transaction is given later.
func (d *drawing) ownRow() []float32 {
	row := make([]float32, features)
	for i := range row {
		row[i] = float32(d.chance.IntN(1<<21)-1<<20) / (1 << 18)
	}
	if d.chance.IntN(4) == 0 {
		row[d.chance.IntN(features)] = lethe.Missing()
	}
	return row
}

func (d *drawing) transaction(id lethe.TransactionID, at lethe.Timestep, row []float32) {
	key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: id, Timestep: at, Features: row})
	d.add(bus.Transactions, key, value, err, id)
	last := &d.events[len(d.events)-1]
	last.row = row
	if !strings.HasPrefix(string(id), prefixOf(at)) {
		last.moved = at
	}
}

func (d *drawing) payment(source, target lethe.TransactionID, at lethe.Timestep) {
	if source == target {
		return
	}
	key, value, err := ingest.EncodePayment(lethe.Payment{Source: source, Target: target, Timestep: at})
	d.add(bus.Transactions, key, value, err, source, target)
	d.events[len(d.events)-1].pays = true
}

func (d *drawing) label(id lethe.TransactionID, at lethe.Timestep) {
	label := rapid.SampledFrom([]lethe.Label{lethe.Illicit, lethe.Licit}).Draw(d.T, "label")
	key, value, err := ingest.EncodeLabel(lethe.LabelRecord{ID: id, Timestep: at, Label: label})
	d.add(bus.Labels, key, value, err, id)
}

// broken adds a record that ends in its midst. Its key is its own: of dead letters with
// one key compaction keeps the last.
func (d *drawing) broken(id lethe.TransactionID, at lethe.Timestep) {
	value := fmt.Appendf(nil, `{"type":"transaction","id":"%s","timestep":%d,"features":[1, 2e0, `, spelled(id), at)
	var row []float32
	if d.chance.IntN(2) == 0 {
		// Whose the values of a broken record are is a guess: one with those of a target goes.
		row = d.ownRow()
		value = fmt.Appendf(nil, `{"features": [%s ,%s,  %s], "id":"%s"`,
			number("%e", row[0]), number("%f", row[1]), number("%g", row[2]), spelled(id))
	}
	d.add(bus.Transactions, fmt.Appendf(nil, "broken-%d", len(d.events)), value, nil, id)
	d.events[len(d.events)-1].row, d.events[len(d.events)-1].broken = row, true
}

// number is how JSON has a feature.
func number(format string, v float32) string {
	if lethe.IsMissing(v) {
		return "null"
	}
	return fmt.Sprintf(format, v)
}

// loop adds a payment of a transaction to itself.
func (d *drawing) loop(id lethe.TransactionID, at lethe.Timestep) {
	value := fmt.Appendf(nil, `{"type":"payment","source":"%s","target":"%s","timestep":%d}`, spelled(id), spelled(id), at)
	d.add(bus.Transactions, fmt.Appendf(nil, "%s>%s", id, id), value, nil, id)
}

// again adds the last record once more.
func (d *drawing) again() { d.events = append(d.events, d.events[len(d.events)-1]) }

// escape spells the ids of the last record otherwise.
func (d *drawing) escape() {
	last := &d.events[len(d.events)-1]
	for _, id := range last.names {
		last.record.Value = bytes.ReplaceAll(last.record.Value, quoted(string(id)), []byte(`"`+spelled(id)+`"`))
	}
}

// spelled is an id with escapes.
func spelled(id lethe.TransactionID) string {
	in := quoted(string(id))
	return strings.NewReplacer(
		"é", `\u00e9`, "😀", `\ud83D\uDE00`, "/", `\/`, "o", `\u006F`,
	).Replace(string(in[1 : len(in)-1]))
}

// quoted is a text as lethe writes it in JSON.
func quoted(text string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func (d *drawing) add(topic bus.Topic, key, value []byte, err error, names ...lethe.TransactionID) {
	if err != nil {
		d.Fatal(err)
	}
	record := d.partitioned(topic, ingest.Outgoing{Key: key, Value: value}, len(names))
	d.events = append(d.events, event{topic: topic, record: record, names: slices.Clone(names)})
}

// ends adds the control records that end a timestep.
func (w *world) ends(at lethe.Timestep) {
	for p := range partitions[bus.Transactions] {
		key, value := ingest.EncodeClose(at, p)
		w.control(bus.Transactions, p, key, value)
	}
	for p := range partitions[bus.Labels] {
		key, value := ingest.EncodeSettle(at, p)
		w.control(bus.Labels, p, key, value)
	}
}

func (w *world) control(topic bus.Topic, partition int, key, value []byte) {
	record := ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: partition}
	w.events = append(w.events, event{topic: topic, record: record})
}
