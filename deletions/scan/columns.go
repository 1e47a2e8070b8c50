package scan

import (
	"errors"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/normalise"
)

// Erased features are found by their transaction, which stays: an object with its id in any spelling whose features
// at the columns are not 0. In broken JSON, or where features are no numbers, everything counts.

// FeaturesFingerprint is for features of a transaction. MatchRecord and MatchRow use it.
func FeaturesFingerprint(secret lethe.Secret, id lethe.TransactionID, columns lethe.Columns) (Fingerprint, error) {
	f, err := NewFingerprint(secret, KindFeaturesOf, featuresNeedle([]byte(id), columns.String()))
	f.Columns = columns.String()
	return f, err
}

// featuresNeedle joins an id (without '>') and columns.
func featuresNeedle(id []byte, columns string) []byte {
	return slices.Concat(id, []byte{'>'}, []byte(columns))
}

// columnsIndex are the fingerprints of features.
type columnsIndex struct {
	// of are indexes of fingerprints by length of the id, then columns.
	of map[int]map[string][]int
	// read are parsed columns by their text; named are all columns in them.
	read  map[string]lethe.Columns
	named map[int]bool
}

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

// RedactedOf returns the erased columns of a transaction, given the spelling of its id in a record.
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

// MatchRow finds erased features of a transaction that are not 0.
func (sc *Scanner) MatchRow(id lethe.TransactionID, row []float32) (hits []Hit) {
	for _, i := range sc.featuresOf([]byte(id)) {
		columns, err := parseColumns(sc.fingerprints[i].Columns)
		if _, changed := columns.Zeroed(row); changed || err != nil {
			hits = append(hits, Hit{KindFeaturesOf, i, 0})
		}
	}
	return hits
}

// SeeksFeatures reports whether MatchRow can find anything.
func (sc *Scanner) SeeksFeatures() bool { return len(sc.columns.of) > 0 }

// featuresOf are the fingerprints for a transaction.
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

// parseColumns reads the text of lethe.Columns.String.
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

// RowFingerprints returns the forms of a feature row, or none if it would not identify its transaction: too short,
// or without two different values besides 0 and missing. It does not check for equal rows, as NodeFingerprints does.
func RowFingerprints(secret lethe.Secret, row []float32) ([]Fingerprint, error) {
	set := fingerprintSet{secret: secret}
	if !distinctive(row) {
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

// NewRecordScanner is NewScanner for original records, whose names are compared in a rule's normal form.
func NewRecordScanner(secret lethe.Secret, names normalise.Rule, fingerprints []Fingerprint) (*Scanner, error) {
	sc, err := NewScanner(secret, fingerprints)
	if err == nil {
		sc.names = names
	}
	return sc, err
}
