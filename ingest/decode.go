package ingest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lethe"
	"lethe/internal/normalise"
)

// DecodeTransactions decodes a record of transactions.v1 to a Transaction, a Payment, a
// Close or Ignored. Any error is a *Refusal.
// The event does not alias the record.
func DecodeTransactions(rec Record, limits Limits) (Event, error) {
	return decodeTransactions(new(object), rec, limits)
}

// Decoder decodes many records and reuses its memory. It is not safe for concurrent use.
type Decoder struct {
	object object
	room   rows
}

// Transactions is like DecodeTransactions. The features of the event are valid until
// Reset.
func (d *Decoder) Transactions(rec Record, limits Limits) (Event, error) {
	d.object = object{room: &d.room}
	return decodeTransactions(&d.object, rec, limits)
}

// Reset lets the memory of features be reused: features decoded since the last Reset must no longer
// be in use.
func (d *Decoder) Reset() { d.room.next, d.room.free = 0, nil }

// rows is memory for feature rows.
type rows struct {
	parts [][]float32
	// next is the index of the next part, free the unused rest of the current one.
	next int
	free []float32
}

// take returns space for n features with undefined values. With a nil receiver it
// allocates.
func (r *rows) take(n int) []float32 {
	const together = 64 << 10
	if r == nil || n > together {
		return make([]float32, 0, n)
	}
	if n > len(r.free) {
		if r.next == len(r.parts) {
			r.parts = append(r.parts, make([]float32, together))
		}
		r.free = r.parts[r.next]
		r.next++
	}
	taken := r.free[:0:n]
	r.free = r.free[n:]
	return taken
}

func decodeTransactions(into *object, rec Record, limits Limits) (Event, error) {
	o, event, r := open(into, rec, limits, parseValue)
	if o == nil {
		return outcome(event, r)
	}
	if o.binary && limits.SchemaID != AnySchema && o.schema != uint32(limits.SchemaID) {
		return nil, &Refusal{UnknownSchema, fmt.Sprintf("schema %d, want %d", o.schema, limits.SchemaID)}
	}
	normaliseNames(o, limits.Normalise)
	switch o.kind {
	case "transaction":
		return outcome(o.transaction(rec, limits))
	case "payment":
		return outcome(o.payment(rec, limits))
	case "close":
		return outcome(o.close(rec))
	case "marker":
		return outcome(o.marker(rec))
	default:
		return nil, o.unknownType()
	}
}

// DecodeLabels decodes a record of labels.v1 to a Label, a Settle or Ignored. Any error is a
// *Refusal.
func DecodeLabels(rec Record, limits Limits) (Event, error) {
	o, event, r := open(new(object), rec, limits, parseObject)
	if o == nil {
		return outcome(event, r)
	}
	normaliseNames(o, limits.Normalise)
	switch o.kind {
	case "label":
		return outcome(o.labelled(rec, limits))
	case "settle":
		return outcome(o.settle(rec))
	case "marker":
		return outcome(o.marker(rec))
	default:
		return nil, o.unknownType()
	}
}

// open does the checks common to all records and parses the value into an empty object. If the
// object is nil, the event or the refusal is final.
func open(
	o *object, rec Record, limits Limits, parse func(into *object, value []byte, featureHint int) *Refusal,
) (*object, Event, *Refusal) {
	if rec.Tombstone() && rec.Key != nil { // whatever its size: a dead letter would store its key
		return nil, Ignored{}, nil
	}
	if n := rec.sizeBytes(); n > limits.MaxRecordBytes {
		return nil, nil, &Refusal{TooLarge, fmt.Sprintf("%d bytes, at most %d", n, limits.MaxRecordBytes)}
	}
	if rec.Key == nil {
		return nil, nil, &Refusal{MissingKey, "the record has no key"}
	}
	if r := parse(o, rec.Value, limits.FeatureCount); r != nil {
		return nil, nil, r
	}
	return o, nil, nil
}

// outcome prevents a nil *Refusal from becoming a non-nil error.
func outcome(event Event, r *Refusal) (Event, error) {
	if r != nil {
		return nil, r
	}
	return event, nil
}

// normaliseNames normalises the names of a record, before any other code reads them.
func normaliseNames(o *object, rule normalise.Rule) {
	for _, name := range []*string{&o.id, &o.source, &o.target} {
		normal := rule.Name(*name)
		o.respelled = o.respelled || normal != *name
		*name = normal
	}
	o.subjects = rule.Names(o.subjects)
}

// isKey reports whether a record's key is the key of these names, in any spelling.
func (l Limits) isKey(rec Record, names string) bool {
	return string(rec.Key) == names || string(normalise.Rule(l.Normalise).Key(rec.Key)) == names
}

func (o *object) unknownType() *Refusal {
	if o.present&fieldType == 0 {
		return &Refusal{MissingField, "the type is absent"}
	}
	return &Refusal{UnknownType, "the type does not belong to this topic"}
}

func (o *object) transaction(rec Record, limits Limits) (Event, *Refusal) {
	const fields = fieldType | fieldID | fieldTimestep | fieldFeatures
	if r := o.holdAmong(fields, fieldSubjects); r != nil {
		return nil, r
	}
	if r := o.carried(); r != nil {
		return nil, r
	}
	if !lethe.ValidID(o.id) {
		return nil, &Refusal{BadID, "id is not valid"}
	}
	if !limits.isKey(rec, o.id) {
		return nil, &Refusal{KeyMismatch, "the key is not the id"}
	}
	n := len(o.features)
	switch {
	case limits.FeatureCount > 0 && n != limits.FeatureCount:
		return nil, &Refusal{FeatureCount, fmt.Sprintf("%d features, want %d", n, limits.FeatureCount)}
	case n == 0 || n > limits.MaxFeatureCount:
		return nil, &Refusal{FeatureCount, fmt.Sprintf("%d features, want 1..%d", n, limits.MaxFeatureCount)}
	}
	if at := beyond(o, limits.MaxMagnitude); at >= 0 {
		return nil, &Refusal{FeatureMagnitude, fmt.Sprintf("feature %d is beyond ±%g", at, limits.MaxMagnitude)}
	}
	return Transaction{Transaction: lethe.Transaction{
		ID: lethe.TransactionID(o.id), Timestep: o.timestep, Features: o.features, Subjects: o.subjects,
	}, HasExtra: o.more(fields)}, nil
}

// beyond returns the index of the first feature whose absolute value exceeds a bound, -1 if there
// is none. Missing features do not count.
func beyond(o *object, most float64) int {
	if float64(math.Float32frombits(o.furthest)) <= most {
		return -1
	}
	return slices.IndexFunc(o.features, func(f float32) bool { return math.Abs(float64(f)) > most })
}

// furthest returns the bits, without the sign, of the feature with the largest absolute value.
// Without the sign, floats are ordered as their bits are, and NaN is above all others. Four
// independent maxima are computed at a time, so that the CPU can run them in parallel.
func furthest(features []float32) uint32 {
	const together, sign = 4, 1 << 31
	var a, b, c, d uint32
	for len(features) >= together {
		f := (*[together]float32)(features)
		a = max(a, math.Float32bits(f[0])&^sign)
		b = max(b, math.Float32bits(f[1])&^sign)
		c = max(c, math.Float32bits(f[2])&^sign)
		d = max(d, math.Float32bits(f[3])&^sign)
		features = features[together:]
	}
	for _, f := range features {
		a = max(a, math.Float32bits(f)&^sign)
	}
	return max(a, b, c, d)
}

func (o *object) payment(rec Record, limits Limits) (Event, *Refusal) {
	const fields = fieldType | fieldSource | fieldTarget | fieldTimestep
	if r := o.holdAmong(fields, fieldSubjects); r != nil {
		return nil, r
	}
	if r := o.carried(); r != nil {
		return nil, r
	}
	if !lethe.ValidID(o.source) {
		return nil, &Refusal{BadID, "source is not valid"}
	}
	if !lethe.ValidID(o.target) {
		return nil, &Refusal{BadID, "target is not valid"}
	}
	if o.source == o.target {
		return nil, &Refusal{SelfLoop, "source and target are the same"}
	}
	p := lethe.Payment{
		Source: lethe.TransactionID(o.source), Target: lethe.TransactionID(o.target), Timestep: o.timestep,
	}
	if !limits.isKey(rec, string(PaymentKey(p.Source, p.Target))) {
		return nil, &Refusal{KeyMismatch, "the key is not source>target"}
	}
	return Payment{Payment: p, Subjects: o.subjects, HasExtra: o.more(fields)}, nil
}

func (o *object) labelled(rec Record, limits Limits) (Event, *Refusal) {
	const fields = fieldType | fieldID | fieldTimestep | fieldLabel
	if r := o.holdAmong(fields, 0); r != nil {
		return nil, r
	}
	if !lethe.ValidID(o.id) {
		return nil, &Refusal{BadID, "id is not valid"}
	}
	if !limits.isKey(rec, o.id) {
		return nil, &Refusal{KeyMismatch, "the key is not the id"}
	}
	label, err := lethe.ParseLabel(o.label)
	if err != nil {
		return nil, &Refusal{UnknownLabel, "label is not one of illicit, licit, unknown"}
	}
	return Label{LabelRecord: lethe.LabelRecord{
		ID: lethe.TransactionID(o.id), Timestep: o.timestep, Label: label,
	}, HasExtra: o.more(fields)}, nil
}

func (o *object) close(rec Record) (Event, *Refusal) {
	if r := o.hold(fieldType|fieldTimestep, 0); r != nil {
		return nil, r
	}
	if string(rec.Key) != string(CloseKey(o.timestep, rec.Partition)) {
		return nil, &Refusal{KeyMismatch, "the key does not name this timestep and partition"}
	}
	return Close{o.timestep}, nil
}

func (o *object) settle(rec Record) (Event, *Refusal) {
	if r := o.hold(fieldType|fieldTimestep, 0); r != nil {
		return nil, r
	}
	if string(rec.Key) != string(SettleKey(o.timestep, rec.Partition)) {
		return nil, &Refusal{KeyMismatch, "the key does not name this timestep and partition"}
	}
	return Settle{o.timestep}, nil
}

func (o *object) marker(rec Record) (Event, *Refusal) {
	if r := o.hold(fieldType, 0); r != nil {
		return nil, r
	}
	if !strings.HasPrefix(string(rec.Key), markerPrefix) {
		return nil, &Refusal{KeyMismatch, "the key of a marker does not start with " + markerPrefix}
	}
	return Ignored{}, nil
}
