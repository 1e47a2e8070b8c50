package scan

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"lethe"
)

// reading decodes a JSON text token by token, without keeping it: a record may be as large as a batch.
func reading(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func (sc *Scanner) matchFeatures(key, value []byte) (hits []Hit) {
	if len(sc.columns.of) == 0 || len(value) == 0 {
		return nil
	}
	reader := featureReader{sc: sc, byKey: sc.featuresOf(key), known: make(map[string][]int), found: make(map[int]bool)}
	text := reading(value)
	err := reader.value(text)
	if err == nil {
		_, err = text.ReadToken()
	}
	if !errors.Is(err, io.EOF) {
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

// value reads a value and the objects in it.
func (s *featureReader) value(text *jsontext.Decoder) error {
	kind := text.PeekKind()
	if kind == '{' {
		return s.object(text)
	}
	_, err := text.ReadToken()
	if err != nil || kind != '[' {
		return err
	}
	for text.PeekKind() != ']' {
		if err := s.value(text); err != nil {
			return err
		}
	}
	_, err = text.ReadToken()
	return err
}

// object reads an object, broken ones as far as possible. Repeated fields cost no product of ids and features.
func (s *featureReader) object(text *jsontext.Decoder) error {
	ids := make(map[string]bool)
	stand := features{sc: s.sc}
	_, err := text.ReadToken()
	for err == nil {
		var name jsontext.Token
		if name, err = text.ReadToken(); err != nil || name.Kind() == '}' {
			break
		}
		switch name.String() {
		case "features":
			err = stand.read(text)
		case "id":
			err = s.readID(text, ids)
		default:
			err = s.value(text)
		}
	}
	s.compare(s.byKey, &stand)
	for id := range ids {
		s.compare(s.known[id], &stand)
	}
	return err
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
func (s *featureReader) readID(text *jsontext.Decoder, ids map[string]bool) error {
	if text.PeekKind() != '"' {
		return text.SkipValue()
	}
	value, err := text.ReadToken()
	if err != nil {
		return err
	}
	id := value.String()
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

// read reads the features field without keeping a list: one may be as large as a record.
func (f *features) read(text *jsontext.Decoder) error {
	if kind := text.PeekKind(); kind != '[' {
		f.unclear = f.unclear || kind != 'n'
		return text.SkipValue()
	}
	_, err := text.ReadToken()
	for at := 0; err == nil; at++ {
		switch text.PeekKind() {
		case ']':
			_, err = text.ReadToken()
			return err
		case 'n':
			f.number(at, lethe.Missing())
			err = text.SkipValue()
		case '0':
			var one jsontext.Token
			if one, err = text.ReadToken(); err == nil {
				f.text(at, one.String())
			}
		default:
			f.unclear = true
			err = text.SkipValue()
		}
	}
	return err
}

// text adds a number in JSON form.
func (f *features) text(at int, n string) {
	parsed, err := strconv.ParseFloat(n, 32)
	mantissa, _, _ := strings.Cut(strings.ToLower(n), "e")
	if err != nil || parsed == 0 && !math.Signbit(parsed) && strings.ContainsAny(mantissa, "123456789") {
		f.unclear = true // too large for a float32, or too small, but there
		return
	}
	f.number(at, float32(parsed))
}

// mayHaveFeatures reports whether a list may have begun in a text. One without digits and null has no features.
func mayHaveFeatures(text []byte) bool {
	_, list, begins := bytes.Cut(text, []byte{'['})
	return begins && (bytes.ContainsAny(list, "0123456789") || bytes.Contains(list, []byte(missingText)))
}

// broken reads invalid JSON: the features may be of anyone named in it.
func (s *featureReader) broken(text []byte) {
	if !mayHaveFeatures(text) {
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
		note(Unescape(text[at:end]))
		at = end + 1
	}
	note(text)
}
