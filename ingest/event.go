package ingest

import (
	"encoding/json"
	"slices"
	"time"

	"lethe"
)

// Event is a decoded record: one of Transaction, Payment, Close, Label, Settle, Erasure, Approve,
// Cancel, Hold, Lift and Ignored.
type Event interface{ event() }

// Transaction adds or replaces a transaction.
type Transaction struct {
	lethe.Transaction
	// HasExtra reports whether the record has content that is not stored unchanged: unknown
	// fields, which are ignored, subjects, or an id that is not in its normal form. Kept returns
	// the record without it.
	HasExtra bool
}

// Payment adds a payment.
type Payment struct {
	lethe.Payment
	// Subjects are like those of a Transaction.
	Subjects []string
	// HasExtra is like that of a Transaction.
	HasExtra bool
}

// Close declares that the record's partition holds every transaction and payment up to
// and including Timestep.
type Close struct{ Timestep lethe.Timestep }

// Label sets or corrects the label of a transaction.
type Label struct {
	lethe.LabelRecord
	// HasExtra is like that of a Transaction.
	HasExtra bool
}

// Settle declares that the record's partition holds every label up to and including
// Timestep.
type Settle struct{ Timestep lethe.Timestep }

// Erasure requests the erasure of its targets.
type Erasure struct {
	lethe.ErasureRequest
	// RequestedAt is zero if the request does not have it.
	RequestedAt time.Time
}

// Ignored has no effect: a marker, or a tombstone, which deletes the record of its key from the
// topic and nothing else. lethe writes such ones itself.
type Ignored struct{}

func (Transaction) event() {}
func (Payment) event()     {}
func (Close) event()       {}
func (Label) event()       {}
func (Settle) event()      {}
func (Erasure) event()     {}
func (Ignored) event()     {}

// Kept returns the part of a record's value that may be stored outside of the topic it
// arrived in: a transaction, payment or label with HasExtra is rewritten without the
// additional content.
func Kept(rec Record, event Event) ([]byte, error) {
	var value []byte
	var err error
	switch e := event.(type) {
	case Transaction:
		if e.HasExtra {
			e.Subjects = nil
			_, value, err = encodingOf(rec.Value).Transaction(e.Transaction)
		}
	case Payment:
		if e.HasExtra {
			_, value, err = encodingOf(rec.Value).Payment(e.Payment)
		}
	case Label:
		if e.HasExtra {
			_, value, err = EncodeLabel(e.LabelRecord)
		}
	default:
	}
	if value == nil {
		value = rec.Value
	}
	return value, err
}

// Stripped returns a record without the parts in which found finds something and that lethe does
// not use: headers, and subjects and unknown fields of a transaction, payment or label. ok is false
// if found still finds something afterwards.
func Stripped(rec Record, found func(Record) bool) (_ Record, ok bool) {
	rec.Headers = slices.DeleteFunc(slices.Clone(rec.Headers), func(h Header) bool {
		return found(Record{Headers: []Header{h}})
	})
	if !found(rec) {
		return rec, true
	}
	value, is := strippedValue(rec.Value, func(subject string) bool {
		alone, err := json.Marshal(map[string][]string{"subjects": {subject}})
		return err != nil || found(Record{Value: alone})
	})
	if is {
		rec.Value = value
	}
	return rec, is && !found(rec)
}

// strippedValue is the value of a transaction, payment or label in its format, without unknown
// fields and the subjects that gone selects. is is false for a malformed value.
func strippedValue(value []byte, gone func(subject string) bool) (out []byte, is bool) {
	o := new(object)
	if r := parseValue(o, value, 0); r != nil {
		return nil, false
	}
	subjects, as := slices.DeleteFunc(slices.Clone(o.subjects), gone), encodingOf(value)
	var err error
	switch o.kind {
	case "transaction":
		var t lethe.Transaction
		if t, is = transactionOf(o); is {
			t.Subjects = subjects
			_, out, err = as.Transaction(t)
		}
	case "payment":
		key := PaymentKey(lethe.TransactionID(o.source), lethe.TransactionID(o.target))
		event, r := o.payment(Record{Key: key}, Limits{})
		if is = r == nil; is {
			out, err = as.carryingPayment(event.(Payment).Payment, subjects)
		}
	case "label":
		event, r := o.labelled(Record{Key: []byte(o.id)}, Limits{})
		if is = r == nil; is {
			_, out, err = EncodeLabel(event.(Label).LabelRecord)
		}
	default:
	}
	return out, is && err == nil
}

// carryingPayment is the value of a payment that carries subjects.
func (e Encoding) carryingPayment(p lethe.Payment, subjects []string) ([]byte, error) {
	_, value, err := e.Payment(p)
	if err != nil || len(subjects) == 0 {
		return value, err
	}
	if e.binary {
		for _, subject := range subjects {
			value = appendString(value, 4, subject)
		}
		return value, nil
	}
	text, err := json.Marshal(subjects)
	if err != nil {
		return nil, err
	}
	value = append(append(value[:len(value)-1], `,"subjects":`...), text...)
	return append(value, '}'), nil
}
