package ingest

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"lethe"
	"lethe/internal/plainnumber"
)

// The fields of a request that name its targets are lists.

// readList reads a list of strings; name is the term for one of them in a refusal.
func (o *object) readList(s *scanner, f field, name string, into *[]string) *Refusal {
	if !s.take('[') {
		o.note(f, BadType, f.names()+" is not an array")
		return s.skip(0)
	}
	return s.each(']', func() *Refusal {
		if s.peek() != '"' {
			o.note(f, BadType, fmt.Sprintf("%s %d is not a string", name, len(*into)))
			return s.skip(0)
		}
		text, r := s.string()
		if r == nil {
			*into = append(*into, text)
		}
		return r
	})
}

// carried checks the subjects of a transaction or payment.
func (o *object) carried() *Refusal {
	if n := len(o.subjects); n > MaxSubjects {
		return &Refusal{SubjectCount, fmt.Sprintf("%d subjects, at most %d", n, MaxSubjects)}
	}
	for i, subject := range o.subjects {
		if !lethe.ValidSubject(subject) {
			return &Refusal{BadSubject, fmt.Sprintf("subject %d is no key: want %s", i, lethe.SubjectForm)}
		}
	}
	return nil
}

// readObjects reads a list of objects without unknown fields; wrong is the detail for one that differs.
func readObjects[T any](o *object, s *scanner, f field, into *[]T, wrong string) *Refusal {
	if s.peek() != '[' {
		o.note(f, BadType, f.names()+" is not an array")
		return s.skip(0)
	}
	from := s.at
	if r := s.skip(0); r != nil {
		return r
	}
	var list []jsontext.Value
	if json.Unmarshal(s.text[from:s.at], &list) != nil { // skip has found nothing else that could be wrong
		return &Refusal{DuplicateField, "second field of one name in " + f.names()}
	}
	for i, text := range list {
		var one T
		if err := json.Unmarshal(text, &one, json.RejectUnknownMembers(true)); err != nil {
			o.note(f, BadType, fmt.Sprintf(wrong, i))
			break
		}
		*into = append(*into, one)
	}
	return nil
}

// columns are those of a request. If they are left out, all features go: null and an empty list are rejected.
type columns lethe.Columns

// UnmarshalJSON implements json.Unmarshaler. Columns may be in any order, and be written as 1.0.
func (c *columns) UnmarshalJSON(text []byte) error {
	var list []jsontext.Value
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, number := range list {
		column, ok := plainnumber.Integer(number, math.MaxInt32)
		if number.Kind() != '0' || !ok {
			return errColumns
		}
		*c = append(*c, int(column))
	}
	if len(list) == 0 {
		return errColumns
	}
	return nil
}

var errColumns = errors.New("not positions counted from 0")

// target validates the named features.
func (f featuresBody) target(at int, limits Limits) (lethe.Target, *Refusal) {
	if !lethe.ValidID(limits.Name(string(f.ID))) {
		return lethe.Target{}, &Refusal{BadID, fmt.Sprintf("the id of features_of %d is not valid", at)}
	}
	t := lethe.FeaturesOf(f.ID, f.Columns...)
	for _, column := range t.Columns {
		if column >= limits.MaxFeatureCount {
			return lethe.Target{}, &Refusal{BadColumn, fmt.Sprintf("features_of %d has column %d, want 0..%d",
				at, column, limits.MaxFeatureCount-1)}
		}
	}
	return t, nil
}

// The command line and the web interface write targets as texts: ids hold no '>'.

// ErrTargetText rejects a text that names no target. It gives the expected form and does
// not repeat the text.
var ErrTargetText = errors.New("not of the form")

// PaymentIn reads "A>B", the payment from one transaction to another.
func PaymentIn(text string) (lethe.Target, error) {
	source, target, joined := strings.Cut(text, ">")
	if !joined || source == target || !lethe.ValidID(source) || !lethe.ValidID(target) {
		return lethe.Target{}, errTargetText("A>B, with two transactions")
	}
	return lethe.PaymentBetween(lethe.TransactionID(source), lethe.TransactionID(target)), nil
}

// FeaturesIn reads "ID", all features of a transaction, or "ID>0,7", the features at those
// positions.
func FeaturesIn(text string) (lethe.Target, error) {
	wrong := errTargetText("ID or ID>0,7, a transaction and positions of features, counted from 0")
	id, list, some := strings.Cut(text, ">")
	if !lethe.ValidID(id) {
		return lethe.Target{}, wrong
	}
	if !some {
		return lethe.FeaturesOf(lethe.TransactionID(id)), nil
	}
	columns, err := lethe.PositionsIn(list)
	if err != nil {
		return lethe.Target{}, wrong
	}
	return lethe.FeaturesOf(lethe.TransactionID(id), columns...), nil
}

func errTargetText(form string) error { return fmt.Errorf("%w %s", ErrTargetText, form) }
