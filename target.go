package lethe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// TargetKind is the kind of data that an erasure removes.
type TargetKind string

// The kinds of target.
const (
	// TransactionTarget is a transaction, with its features, its label and every payment that names
	// it.
	TransactionTarget TargetKind = "transaction"
	// PaymentTarget is one payment; its two transactions stay.
	PaymentTarget TargetKind = "payment"
	// FeaturesTarget is features of a transaction, which become 0; the transaction stays.
	FeaturesTarget TargetKind = "features"
	// SubjectTarget is every transaction and payment that carries a subject.
	SubjectTarget TargetKind = "subject"
)

// Target is the target of an erasure, by its names in the records. Kind determines which of the other fields apply.
type Target struct {
	Kind TargetKind
	// Transaction is the transaction to erase, or whose features to erase.
	Transaction TransactionID
	// Payment is the payment to erase; its timestep is ignored.
	Payment Payment
	// Columns are the features to erase, counted from 0; none means all.
	Columns Columns
	// Subject is the key of the subject to erase, up to and including the timestep Until. Until is
	// NoTimestep until the request is accepted; it is then set to the newest timestep.
	Subject string
	Until   Timestep
}

// ErrTarget rejects a target that cannot be erased. The text contains the kind, and nothing else
// of the target.
var ErrTarget = errors.New("target cannot be erased")

// Transactions returns targets for these transactions.
func Transactions(ids ...TransactionID) []Target {
	targets := make([]Target, len(ids))
	for i, id := range ids {
		targets[i] = Target{Kind: TransactionTarget, Transaction: id}
	}
	return targets
}

// PaymentBetween returns a target for the payment from one transaction to another.
func PaymentBetween(source, target TransactionID) Target {
	return Target{Kind: PaymentTarget, Payment: Payment{Source: source, Target: target}}
}

// SubjectThrough returns a target for everything that a subject carries up to and including a
// timestep, or NoTimestep if that is still undecided.
func SubjectThrough(subject string, until Timestep) Target {
	return Target{Kind: SubjectTarget, Subject: subject, Until: until}
}

// Check rejects a target that names nothing, or whose kind cannot be erased.
func (t Target) Check() error {
	var named bool
	switch t.Kind {
	case TransactionTarget:
		named = t.Transaction != ""
	case PaymentTarget:
		named = t.Payment.Source != "" && t.Payment.Target != "" && t.Payment.Source != t.Payment.Target
	case FeaturesTarget:
		if err := t.Columns.Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrTarget, err)
		}
		named = t.Transaction != ""
	case SubjectTarget:
		named = t.Subject != ""
	default:
		return fmt.Errorf("%w yet: it is of kind %q", ErrTarget, t.Kind)
	}
	if !named {
		return fmt.Errorf("%w: it is of kind %q and names nothing", ErrTarget, t.Kind)
	}
	name := t.Name()
	if !utf8.ValidString(name.first) || !utf8.ValidString(name.last) {
		// JSON would name another.
		return fmt.Errorf("%w: it is of kind %q and its name is not UTF-8", ErrTarget, t.Kind)
	}
	return nil
}

// CheckTargets is Check for several targets; the error contains the position of the first
// rejected one.
func CheckTargets(targets []Target) error {
	for i, t := range targets {
		if err := t.Check(); err != nil {
			return fmt.Errorf("target %d: %w", i, err)
		}
	}
	return nil
}

// TargetName identifies a target and is comparable. It contains personal data and must stay in
// memory.
type TargetName struct {
	kind        TargetKind
	first, last string
}

// Name returns the identity of the target.
func (t Target) Name() TargetName {
	switch t.Kind {
	case PaymentTarget:
		return TargetName{t.Kind, string(t.Payment.Source), string(t.Payment.Target)}
	case FeaturesTarget:
		return TargetName{t.Kind, string(t.Transaction), t.Columns.String()}
	case SubjectTarget:
		return TargetName{t.Kind, t.Subject, ""}
	default:
		return TargetName{t.Kind, string(t.Transaction), ""}
	}
}

// Distinct returns the targets in their order, without duplicates.
func Distinct(targets []Target) (out []Target) {
	known := make(map[TargetName]bool, len(targets))
	for _, t := range targets {
		if name := t.Name(); !known[name] {
			known[name] = true
			out = append(out, t)
		}
	}
	return out
}

// Columns are positions of features, counted from 0 and ascending. An empty list means all
// features.
type Columns []int

// String lists the positions, separated by commas; empty for all.
func (c Columns) String() string {
	var out []byte
	for i, column := range c {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(column), 10)
	}
	return string(out)
}

// Hold reports whether a position is among the columns.
func (c Columns) Hold(column int) bool {
	return len(c) == 0 || slices.Contains(c, column)
}

// Suppressed returns the keyed hash under which an erased target is stored, so that later records
// of it can be dropped. It cannot be linked to pseudonyms, or to the hashes of other targets,
// without the secret.
func (s Secret) Suppressed(t Target) Digest {
	switch t.Kind {
	case PaymentTarget:
		return s.SuppressedPayment(t.Payment.Source, t.Payment.Target)
	case FeaturesTarget:
		return s.Ledger().Hash("suppression-features", []byte(t.Transaction), []byte(t.Columns.String()))
	case SubjectTarget:
		return s.SuppressedSubject(t.Subject)
	default:
		return s.Suppression(t.Transaction)
	}
}

// SuppressedPayment is Suppressed for a payment.
func (s Secret) SuppressedPayment(source, target TransactionID) Digest {
	return s.PaymentSuppressor().Suppression(source, target)
}

// PaymentSuppressor computes the hashes of Secret.SuppressedPayment faster. Use it from one goroutine at a time.
type PaymentSuppressor struct{ hasher Hasher }

// PaymentSuppressor returns a PaymentSuppressor for the secret.
func (s Secret) PaymentSuppressor() PaymentSuppressor {
	return PaymentSuppressor{s.Ledger().Hasher("suppression-payment")}
}

// Suppression returns the hash that Secret.SuppressedPayment returns.
func (s PaymentSuppressor) Suppression(source, target TransactionID) Digest {
	return s.hasher.Hash([]byte(source), []byte(target))
}

// SuppressedSubject is Suppressed for a subject.
func (s Secret) SuppressedSubject(subject string) Digest {
	return s.Ledger().Hash("suppression-subject", []byte(subject))
}

// SubjectUntil is an erased subject, by its keyed hash (SuppressedSubject), and the last timestep
// of the erasure. Records that carry the subject later are accepted: otherwise an erasure would
// make someone permanently invisible to fraud detection.
type SubjectUntil struct {
	Target Digest   `json:"target"`
	Until  Timestep `json:"until"`
}
