package scan

import (
	"errors"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/normalise"
)

// Features that are erased are searched for by what is said of their transaction, for that
// stays: an object with its id, in whatever spelling, whose features are not 0 at the
// columns. Where JSON is broken, or has under that name no numbers, nobody can tell which
// columns they are, and everything counts.

// FeaturesFingerprint stands for features of a transaction. Only MatchRecord and MatchRow look
// for it; Columns are those of the target.
func FeaturesFingerprint(secret lethe.Secret, id lethe.TransactionID, columns lethe.Columns) (Fingerprint, error) {
	f, err := NewFingerprint(secret, KindFeaturesOf, featuresNeedle([]byte(id), columns.String()))
	f.Columns = columns.String()
	return f, err
}

// featuresNeedle joins an id, which holds no '>', with columns.
func featuresNeedle(id []byte, columns string) []byte {
	return slices.Concat(id, []byte{'>'}, []byte(columns))
}

// columnsIndex are the fingerprints of features.
type columnsIndex struct {
	// of are their places in the list, by the length of the transaction's id, then by their columns.
	of map[int]map[string][]int
	// read are the columns by what lethe.Columns.String says of them, named all that some of them hold.
	read  map[string]lethe.Columns
	named map[int]bool
}

// addColumns takes in the fingerprint at a place of the list, which is valid, by its columns and length.
func (sc *Scanner) addColumns(i int, f Fingerprint) {
	in := &sc.columns
	if in.of == nil {
		*in = columnsIndex{
			of: make(map[int]map[string][]int), read: make(map[string]lethe.Columns), named: make(map[int]bool),
		}
	}
	length := f.Length - len(featuresNeedle(nil, f.Columns))
	if in.of[length] == nil {
		in.of[length] = make(map[string][]int)
	}
	in.of[length][f.Columns] = append(in.of[length][f.Columns], i)
	if _, known := in.read[f.Columns]; known {
		return
	}
	columns, err := parseColumns(f.Columns)
	if err != nil {
		columns = nil // all of them
	}
	in.read[f.Columns] = columns
	for _, column := range columns {
		in.named[column] = true
	}
}

// RedactedOf returns the columns that the fingerprints name of a transaction, if some do, as a record spells its id.
func (sc *Scanner) RedactedOf(id lethe.TransactionID) (columns lethe.Columns, redacted bool) {
	for _, i := range sc.featuresOf([]byte(sc.names.Name(string(id)))) {
		of, err := parseColumns(sc.fingerprints[i].Columns)
		if err != nil {
			continue
		}
		if redacted {
			of = columns.With(of)
		}
		columns, redacted = of, true
	}
	return columns, redacted
}

// MatchRow looks for features of a transaction that are not 0.
func (sc *Scanner) MatchRow(id lethe.TransactionID, row []float32) (hits []Hit) {
	for _, i := range sc.featuresOf([]byte(id)) {
		columns, err := parseColumns(sc.fingerprints[i].Columns)
		if _, changed := columns.Zeroed(row); changed || err != nil {
			hits = append(hits, Hit{KindFeaturesOf, i, 0})
		}
	}
	return hits
}

// SeeksFeatures reports whether MatchRow may find something.
func (sc *Scanner) SeeksFeatures() bool { return len(sc.columns.of) > 0 }

// featuresOf are the fingerprints that are of a transaction.
func (sc *Scanner) featuresOf(id []byte) (out []int) {
	if len(id) == 0 {
		return nil
	}
	of := sc.columns.of[len(id)]
	for _, columns := range slices.Sorted(maps.Keys(of)) {
		for _, h := range sc.matching(KindFeaturesOf, of[columns], featuresNeedle(id, columns), 0) {
			out = append(out, h.Fingerprint)
		}
	}
	return out
}

var errColumns = errors.New("columns are no positions, separated by commas")

// parseColumns reads what lethe.Columns.String says.
func parseColumns(text string) (lethe.Columns, error) {
	if text == "" {
		return nil, nil
	}
	out, err := lethe.PositionsIn(text)
	if err != nil || out.Check() != nil {
		return nil, errColumns
	}
	return out, nil
}

// RowFingerprints returns the forms of one feature row, or none for a row that
// says nothing about whom it belongs to: without two different values beside 0 and
// missing ones, or too short. Unlike NodeFingerprints it does not know whether another transaction
// has the same.
func RowFingerprints(secret lethe.Secret, row []float32) ([]Fingerprint, error) {
	set := fingerprintSet{secret: secret}
	if !telling(row) {
		return nil, nil
	}
	if raw := featureBytes(row); len(raw) >= MinNeedleBytes {
		set.add(KindFeatures, raw)
	}
	if text := featureText(row); len(text) >= MinNeedleBytes {
		set.add(KindFeaturesText, text)
	}
	return set.list, set.err
}

// NewRecordScanner is NewScanner for records as their producers wrote them, in which names are compared in the normal
// form of a rule: fingerprints are of names in that form.
func NewRecordScanner(secret lethe.Secret, names normalise.Rule, fingerprints []Fingerprint) (*Scanner, error) {
	sc, err := NewScanner(secret, fingerprints)
	if err == nil {
		sc.names = names
	}
	return sc, err
}
