package ingest

import (
	"time"

	"lethe"
)

// Event is what a record says: one of Transaction, Payment, Close, Label,
// Settle, Erasure, Approve, Cancel, Hold, Lift, TransactionTombstone, PaymentTombstone and Ignored.
type Event interface{ event() }

// Transaction adds or replaces a transaction.
type Transaction struct {
	lethe.Transaction
	// SaysMore reports whether the record has fields beyond those that are kept as they
	// are: ones of no meaning, which are ignored, or subjects; or an id in another spelling than its
	// normal form. Kept is the record without them.
	SaysMore bool
}

// Payment adds a payment.
type Payment struct {
	lethe.Payment
	// Subjects are as those of a transaction.
	Subjects []string
	// SaysMore is as for a Transaction.
	SaysMore bool
}

// Close says that the record's partition holds every transaction and payment
// up to and including Timestep.
type Close struct{ Timestep lethe.Timestep }

// Label sets or corrects what is known of a transaction.
type Label struct {
	lethe.LabelRecord
	// SaysMore is as for a Transaction.
	SaysMore bool
}

// Settle says that the record's partition holds every label up to and
// including Timestep.
type Settle struct{ Timestep lethe.Timestep }

// Erasure asks lethe to forget transactions.
type Erasure struct {
	lethe.ErasureRequest
	// RequestedAt is zero when the request does not say.
	RequestedAt time.Time
}

// TransactionTombstone deletes the record keyed by a transaction id: the
// transaction itself on transactions.v1, its label on labels.v1.
type TransactionTombstone struct{ ID lethe.TransactionID }

// PaymentTombstone deletes a payment record.
type PaymentTombstone struct{ Source, Target lethe.TransactionID }

// Ignored carries nothing: a marker, or the tombstone of a control record, of
// an erasure request that was purged, or under a key that is no id.
type Ignored struct{}

func (Transaction) event()          {}
func (Payment) event()              {}
func (Close) event()                {}
func (Label) event()                {}
func (Settle) event()               {}
func (Erasure) event()              {}
func (TransactionTombstone) event() {}
func (PaymentTombstone) event()     {}
func (Ignored) event()              {}

// Kept returns the value of a record as far as it may be stored outside of the topic that it
// came in: a transaction, payment or label that says more is written anew, without that.
func Kept(rec Record, event Event) ([]byte, error) {
	var value []byte
	var err error
	switch e := event.(type) {
	case Transaction:
		if e.SaysMore {
			e.Subjects = nil
			_, value, err = encodingOf(rec.Value).Transaction(e.Transaction)
		}
	case Payment:
		if e.SaysMore {
			_, value, err = encodingOf(rec.Value).Payment(e.Payment)
		}
	case Label:
		if e.SaysMore {
			_, value, err = EncodeLabel(e.LabelRecord)
		}
	default:
	}
	if value == nil {
		value = rec.Value
	}
	return value, err
}
