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

// matchFeatures looks at a value of a record with a key.
func (sc *Scanner) matchFeatures(key, value []byte) (hits []Hit) {
	if len(sc.columns.of) == 0 || len(value) == 0 {
		return nil
	}
	said := spoken{sc: sc, byKey: sc.featuresOf(key), known: make(map[string][]int), found: make(map[int]bool)}
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
	// known are the fingerprints of the ids that were met and have some.
	known map[string][]int
	found map[int]bool
	// depth is how many values stand around the present one.
	depth int
}

// mostDepth bounds that, as encoding/json does, whose Token has no bound: each value that stands in another takes
// room on the stack.
const mostDepth = 10_000

var errDepth = errors.New("nested too deep")

// features are what an object has under that name, in all its lists together: which of them has what does not matter.
type features struct {
	sc *Scanner
	// unclear says that something is no number, some that a number is not 0, and at where it is not, of the positions
	// that fingerprints name.
	unclear, some bool
	at            map[int]bool
}

// number takes the number at a position. A missing one and -0 are not 0.
func (f *features) number(at int, v float32) {
	if math.Float32bits(v) == 0 {
		return
	}
	f.some = true
	if f.sc.columns.named[at] {
		if f.at == nil {
			f.at = make(map[int]bool)
		}
		f.at[at] = true
	}
}

// standAt reports whether some of them may stand at columns.
func (f *features) standAt(columns lethe.Columns) bool {
	switch {
	case f.unclear:
		return true
	case len(columns) == 0:
		return f.some
	case len(columns) <= len(f.at):
		return slices.ContainsFunc(columns, func(column int) bool { return f.at[column] })
	}
	for at := range f.at {
		if _, holds := slices.BinarySearch(columns, at); holds {
			return true
		}
	}
	return false
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

// object reads an object whose brace was read. A field may be there many times: what it takes to compare them is no
// product of ids and features.
func (s *spoken) object(d *json.Decoder) error {
	ids := make(map[string]bool)
	stand := features{sc: s.sc}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		switch name {
		case "features":
			err = s.readFeatures(d, &stand)
		case "id":
			err = s.readID(d, ids)
		default:
			err = s.value(d)
		}
		if err != nil {
			return err
		}
	}
	s.compare(s.byKey, &stand)
	for id := range ids {
		s.compare(s.known[id], &stand)
	}
	_, err := d.Token()
	return err
}

// compare takes those fingerprints for found whose columns may have features.
func (s *spoken) compare(prints []int, stand *features) {
	for _, i := range prints {
		if !s.found[i] && stand.standAt(s.sc.columns.read[s.sc.fingerprints[i].Columns]) {
			s.found[i] = true
		}
	}
}

// readID reads what stands under that name, and keeps it if its features are searched for.
func (s *spoken) readID(d *json.Decoder, ids map[string]bool) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	id, isText := token.(string)
	if !isText {
		return pastValue(d, token)
	}
	if _, known := s.known[id]; !known {
		prints := s.sc.featuresOf([]byte(id))
		if len(prints) == 0 {
			return nil
		}
		s.known[id] = prints
	}
	ids[id] = true
	return nil
}

// pastValue goes past the value that a token begins.
func pastValue(d *json.Decoder, token json.Token) error {
	for depth := 0; ; {
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		if depth > mostDepth {
			return errDepth
		}
		var err error
		if token, err = d.Token(); err != nil {
			return err
		}
	}
}

// readFeatures reads what stands under that name.
func (s *spoken) readFeatures(d *json.Decoder, stand *features) error {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return err
	}
	var list []any
	numbers := json.NewDecoder(bytes.NewReader(raw))
	numbers.UseNumber()
	if numbers.Decode(&list) != nil {
		stand.unclear = true
	}
	for at, one := range list {
		switch n := one.(type) {
		case nil:
			stand.number(at, lethe.Missing())
		case json.Number:
			stand.text(at, n.String())
		default:
			stand.unclear = true
		}
	}
	return nil
}

// text takes the number at a position as JSON says it.
func (f *features) text(at int, n string) {
	parsed, err := strconv.ParseFloat(n, 32)
	if err != nil || parsed == 0 && !math.Signbit(parsed) && strings.ContainsAny(mantissa(n), "123456789") {
		f.unclear = true // too large for a float32, or too small, but there
		return
	}
	f.number(at, float32(parsed))
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
