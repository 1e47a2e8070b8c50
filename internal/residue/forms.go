// Package residue searches for the remains of an erased transaction, byte by byte. The forms that
// a transaction can have in a file are derived from the dataset. It shares no code with lethe's
// own scanner and stores, so that their mistakes are not repeated here. Only tests use it.
//
// It cannot see compressed or encrypted data; lethe uses neither for stores and topics. A search
// proves something only if it also finds a record that is present, which the caller must show.
package residue

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/dataset"
	"lethe/ingest"
)

// ErrSharedFeatures means that another transaction has the same features, so that finding them
// proves nothing. The other forms are returned with it; the caller may use those or choose
// another transaction.
var ErrSharedFeatures = errors.New("another transaction has the same features")

// Form is one representation of something in a file: Bytes, or decoded JSON in any spelling: a
// string equal to Text, an array of numbers equal to Row, an object with the source and target of
// Payment, or one with an id and features that are not 0.
type Form struct {
	Name    string
	Bytes   []byte
	Text    string
	Row     []float32
	Payment Payment
	Of      Features
}

// Features are a transaction's features at some positions; without columns, all of them.
type Features struct {
	ID      string
	Columns []int
}

// Payment holds the ends of a payment.
type Payment struct{ Source, Target string }

// Of returns the forms of a transaction that is in the stream exactly once: its id; its pseudonym
// raw, in hexadecimal and in base64; its features raw, in base64 and as the sender writes them;
// id and features as decoded JSON.
func Of(secret lethe.Secret, stream *dataset.Stream, id lethe.TransactionID) ([]Form, error) {
	var rows [][]byte
	var subjects []lethe.Transaction
	for _, step := range stream.Steps {
		for _, tx := range step.Transactions {
			rows = append(rows, rowBytes(tx.Features))
			if tx.ID == id {
				subjects = append(subjects, tx)
			}
		}
	}
	if len(subjects) != 1 {
		return nil, fmt.Errorf("the transaction is %d times in the stream, want once", len(subjects))
	}
	forms := OfID(secret, id)
	row := rowBytes(subjects[0].Features)
	shared := 0
	for _, other := range rows {
		if bytes.Equal(row, other) {
			shared++
		}
	}
	if shared > 1 {
		return forms, ErrSharedFeatures
	}
	_, value, err := ingest.EncodeTransaction(subjects[0])
	if err != nil {
		return nil, err
	}
	text := value[bytes.IndexByte(value, '[') : bytes.IndexByte(value, ']')+1]
	forms = append(forms, Form{Name: "features as text", Bytes: text})
	return append(forms, OfRow(subjects[0].Features)...), nil
}

// OfID returns the forms of an id: itself, and its pseudonym raw, in hexadecimal and in base64.
func OfID(secret lethe.Secret, id lethe.TransactionID) []Form {
	pseudonym := secret.Pseudonym(id)
	// Tables may share prefixes of neighbouring keys, but rarely more than four bytes.
	tail := pseudonym[4:]
	forms := []Form{{Name: "id", Bytes: []byte(id)}, {Name: "id in JSON", Text: string(id)},
		{Name: "pseudonym", Bytes: tail},
		{Name: "pseudonym in hexadecimal", Bytes: []byte(hex.EncodeToString(tail))}}
	return append(forms, base64Forms("pseudonym", tail)...)
}

// OfPayment returns the forms of a payment of a timestep up to last: its record key; its keys in
// graphs and in staging, which end with both pseudonyms; source and target as the sender writes
// them, and as decoded JSON.
func OfPayment(secret lethe.Secret, p lethe.Payment, last lethe.Timestep) []Form {
	key := string(p.Source) + ">" + string(p.Target)
	source, target := secret.Pseudonym(p.Source), secret.Pseudonym(p.Target)
	pair := slices.Concat(source[:], target[:])
	forms := []Form{
		{Name: "payment", Bytes: []byte(key)},
		{Name: "payment in JSON", Payment: Payment{string(p.Source), string(p.Target)}},
		{Name: "payment in a graph", Bytes: append([]byte("e"), pair...)},
	}
	for t := range last + 1 {
		waits := append(binary.BigEndian.AppendUint64([]byte("p"), uint64(t)), pair...)
		forms = append(forms, Form{Name: "payment that waits", Bytes: waits})
	}
	return forms
}

// OfSubject returns the forms of an erased subject: its key, raw and as decoded JSON, and its
// pseudonym.
func OfSubject(secret lethe.Secret, subject string) []Form {
	pseudonym := secret.SubjectPseudonym(subject)
	return []Form{
		{Name: "subject", Bytes: []byte(subject)}, {Name: "subject in JSON", Text: subject},
		{Name: "pseudonym of a subject", Bytes: pseudonym[4:]},
	}
}

// OfFeatures returns the form of features of a transaction: decoded JSON in which they are not 0.
func OfFeatures(id lethe.TransactionID, columns []int) Form {
	return Form{Name: "features of a transaction in JSON", Of: Features{string(id), columns}}
}

// OfRow returns the forms of features: raw, in base64, and as decoded JSON.
func OfRow(features []float32) []Form {
	row := rowBytes(features)
	forms := []Form{{Name: "features", Bytes: row}, {Name: "features in JSON", Row: features}}
	return append(forms, base64Forms("features", row)...)
}

// rowBytes is a feature row in its canonical bytes, which equal those in memory.
func rowBytes(features []float32) []byte {
	var out []byte
	for _, v := range features {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

// base64Forms returns three texts, one of which is in the base64 encoding of any data that
// contains these bytes: which one depends on the number of bytes before them. Characters that
// also encode a neighbouring byte are omitted.
func base64Forms(name string, data []byte) []Form {
	var out []Form
	for before := range 3 {
		whole := data[(3-before)%3:]
		whole = whole[:len(whole)/3*3]
		out = append(out, Form{Name: name + " in base64", Bytes: base64.StdEncoding.AppendEncode(nil, whole)})
	}
	return out
}
