package scan

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"lethe"
)

func (sc *Scanner) matchFeatures(key, value []byte) (hits []Hit) {
	if len(sc.columns.of) == 0 || len(value) == 0 {
		return nil
	}
	reader := featureReader{sc: sc, byKey: sc.featuresOf(key), known: make(map[string][]int), found: make(map[int]bool)}
	text := tokens{text: value}
	reader.value(&text, text.next(), 1)
	if !json.Valid(value) {
		reader.broken(value)
	}
	for _, i := range slices.Sorted(maps.Keys(reader.found)) {
		hits = append(hits, Hit{KindFeaturesOf, i, 0})
	}
	return hits
}

// featureReader finds features in a JSON text.
type featureReader struct {
	sc *Scanner
	// byKey are the fingerprints of the key's transaction, which apply to every object.
	byKey []int
	// known are the fingerprints of ids met.
	known map[string][]int
	found map[int]bool
}

// mostDepth bounds nesting in valid JSON as encoding/json does, for the stack.
const mostDepth = 10_000

// features are those of an object, of all its lists together.
type features struct {
	sc *Scanner
	// unclear: something is no number. some: a number is not 0; at: where, of the named columns.
	unclear, some bool
	at            map[int]bool
}

// number adds a number. Missing and -0 are not 0.
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

// standAt reports whether some columns may have features.
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

// value reads a value and the objects in it, and reports whether the text is still valid.
func (s *featureReader) value(text *tokens, first token, depth int) bool {
	switch {
	case depth > mostDepth || first.closes() || first.kind == noToken:
		return false
	case first.kind == '{':
		return s.object(text, depth)
	case first.kind == '[':
		one := text.next()
		for ; one.kind != ']'; one = text.next() {
			if !s.value(text, one, depth+1) {
				return false
			}
		}
	}
	return true
}

// object reads an object. Repeated fields cost no product of ids and features.
func (s *featureReader) object(text *tokens, depth int) bool {
	ids := make(map[string]bool)
	stand := features{sc: s.sc}
	name := text.next()
	for ; !name.closes() && name.kind != noToken; name = text.next() {
		if name.kind != stringToken {
			return false
		}
		value, goesOn := text.next(), true
		switch name.said() {
		case "features":
			stand.read(text, value)
		case "id":
			s.readID(value, ids)
			text.pastValue(value)
		default:
			goesOn = s.value(text, value, depth+1)
		}
		if !goesOn {
			return false
		}
	}
	s.compare(s.byKey, &stand)
	for id := range ids {
		s.compare(s.known[id], &stand)
	}
	return name.kind == '}'
}

// compare records the fingerprints whose columns may have features.
func (s *featureReader) compare(prints []int, stand *features) {
	for _, i := range prints {
		if !s.found[i] && stand.standAt(s.sc.columns.read[s.sc.fingerprints[i].Columns]) {
			s.found[i] = true
		}
	}
}

// readID keeps an id with fingerprints.
func (s *featureReader) readID(value token, ids map[string]bool) {
	if value.kind != stringToken {
		return
	}
	id := value.said()
	if _, known := s.known[id]; !known {
		prints := s.sc.featuresOf([]byte(id))
		if len(prints) == 0 {
			return
		}
		s.known[id] = prints
	}
	ids[id] = true
}

// read reads the features field without keeping a list: one may be as large as a record.
func (f *features) read(text *tokens, first token) {
	if first.kind != '[' {
		f.unclear = f.unclear || !first.isNull()
		text.pastValue(first)
		return
	}
	one := text.next()
	for at := 0; one.kind != ']' && one.kind != noToken; at++ {
		switch {
		case one.isNull():
			f.number(at, lethe.Missing())
		case one.kind == literalToken:
			f.text(at, string(one.raw))
		default:
			f.unclear = true
			text.pastValue(one)
		}
		one = text.next()
	}
}

// text adds a number in JSON form.
func (f *features) text(at int, n string) {
	parsed, err := strconv.ParseFloat(n, 32)
	if err != nil || parsed == 0 && !math.Signbit(parsed) && strings.ContainsAny(mantissa(n), "123456789") {
		f.unclear = true // too large for a float32, or too small, but there
		return
	}
	f.number(at, float32(parsed))
}

func mantissa(n string) string {
	if at := strings.IndexAny(n, "eE"); at >= 0 {
		return n[:at]
	}
	return n
}

// broken reads invalid JSON: the features may be of anyone named in it.
func (s *featureReader) broken(text []byte) {
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
