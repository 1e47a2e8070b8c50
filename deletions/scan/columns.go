package scan

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"lethe"
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

// columnsIndex are fingerprints of features, by their columns, then by length.
type columnsIndex map[string]map[int][]int

// addColumns takes in the fingerprint at a place of the list, by its columns and length.
func (sc *Scanner) addColumns(i int, f Fingerprint) {
	if sc.columns == nil {
		sc.columns = make(columnsIndex)
	}
	if sc.columns[f.Columns] == nil {
		sc.columns[f.Columns] = make(map[int][]int)
	}
	sc.columns[f.Columns][f.Length] = append(sc.columns[f.Columns][f.Length], i)
}

// RedactedOf returns the columns that the fingerprints name of a transaction, if some do.
func (sc *Scanner) RedactedOf(id lethe.TransactionID) (columns lethe.Columns, redacted bool) {
	for _, i := range sc.featuresOf([]byte(id)) {
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
func (sc *Scanner) SeeksFeatures() bool { return len(sc.columns) > 0 }

// featuresOf are the fingerprints that are of a transaction.
func (sc *Scanner) featuresOf(id []byte) (out []int) {
	if len(id) == 0 {
		return nil
	}
	for _, columns := range slices.Sorted(maps.Keys(sc.columns)) {
		needle := featuresNeedle(id, columns)
		for _, h := range sc.matching(KindFeaturesOf, sc.columns[columns][len(needle)], needle, 0) {
			out = append(out, h.Fingerprint)
		}
	}
	return out
}

// matchFeatures looks at a value of a record with a key.
func (sc *Scanner) matchFeatures(key, value []byte) (hits []Hit) {
	if len(sc.columns) == 0 || len(value) == 0 {
		return nil
	}
	said := spoken{sc: sc, byKey: sc.featuresOf(key), found: make(map[int]bool)}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if err := said.value(d); err != nil || d.More() {
		said.broken(value)
	}
	for _, i := range slices.Sorted(maps.Keys(said.found)) {
		hits = append(hits, Hit{KindFeaturesOf, i, 0})
	}
	return hits
}

// spoken is what a JSON text says of the features of transactions.
type spoken struct {
	sc *Scanner
	// byKey are the fingerprints of the transaction that the record's key names: they are
	// of every object.
	byKey []int
	found map[int]bool
	// depth is how many values stand around the present one.
	depth int
}

// mostDepth bounds that, as encoding/json does, whose Token has no bound: each value that stands in another takes
// room on the stack.
const mostDepth = 10_000

var errDepth = errors.New("nested too deep")

// features is what an object has under that name: numbers, or what cannot be told.
type features struct {
	row     []float32
	unclear bool
}

// value reads one value. Every object in it is looked at.
func (s *spoken) value(d *json.Decoder) error {
	if s.depth++; s.depth > mostDepth {
		return errDepth
	}
	defer func() { s.depth-- }()
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		return s.object(d)
	case json.Delim('['):
		for d.More() {
			if err := s.value(d); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

// object reads an object whose brace was read. A field may be there twice.
func (s *spoken) object(d *json.Decoder) error {
	prints := slices.Clone(s.byKey)
	var rows []features
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		switch name {
		case "features":
			f, err := s.readFeatures(d)
			if err != nil {
				return err
			}
			rows = append(rows, f)
		case "id":
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				return err
			}
			var id string
			if json.Unmarshal(raw, &id) == nil {
				prints = append(prints, s.sc.featuresOf([]byte(id))...)
			}
		default:
			if err := s.value(d); err != nil {
				return err
			}
		}
	}
	for _, i := range prints {
		columns, err := parseColumns(s.sc.fingerprints[i].Columns)
		for _, f := range rows {
			if _, changed := columns.Zeroed(f.row); changed || f.unclear || err != nil {
				s.found[i] = true
			}
		}
	}
	_, err := d.Token()
	return err
}

// readFeatures reads what stands under that name.
func (s *spoken) readFeatures(d *json.Decoder) (f features, err error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return f, err
	}
	var list []any
	numbers := json.NewDecoder(bytes.NewReader(raw))
	numbers.UseNumber()
	f.unclear = numbers.Decode(&list) != nil
	for _, one := range list {
		v := lethe.Missing()
		switch n := one.(type) {
		case nil:
		case json.Number:
			parsed, err := strconv.ParseFloat(n.String(), 32)
			f.unclear = f.unclear || err != nil
			v = float32(parsed)
			if parsed == 0 && !math.Signbit(parsed) && strings.ContainsAny(mantissa(n.String()), "123456789") {
				f.unclear = true // too small for a float32, but there
			}
		default:
			f.unclear = true
		}
		f.row = append(f.row, v)
	}
	return f, nil
}

// mantissa is a number without its exponent.
func mantissa(n string) string {
	if at := strings.IndexAny(n, "eE"); at >= 0 {
		return n[:at]
	}
	return n
}

// broken looks at a text that is no JSON: whoever is named in it, in a string or between two,
// may be the one whose features stand in it.
func (s *spoken) broken(text []byte) {
	if bytes.IndexByte(text, '[') < 0 {
		return
	}
	for _, i := range s.byKey {
		s.found[i] = true
	}
	note := func(part []byte) {
		for _, i := range s.sc.featuresOf(part) {
			s.found[i] = true
		}
	}
	for at := 0; at <= len(text); {
		end := closingQuote(text, at)
		note(unescape(text[at:end]))
		at = end + 1
	}
	note(text)
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
