package scan

import (
	"bytes"
	"encoding/json"
	"slices"
)

// JSON has many spellings of one text: "caf\u00e9", "a\/b", 1e0 and 1.0. Topics, dead letters and staging keep
// original bytes, so the decoded text counts there.

// maxNesting bounds JSON in strings of JSON.
const maxNesting = 3

type jsonMatch struct {
	sc *Scanner
	hitList
	runRoom
	// at is the field of the present string.
	at field
	// isName means that the present string is a name, to be compared as a whole.
	isName bool
	// ends are the source and target of the present object.
	ends paymentEnds
	// noPayments disables combining source and target.
	noPayments bool
}

// runRoom is a run of numbers, reused.
type runRoom struct {
	// row are the run's numbers, values those read so far as a row's bytes, known which these are.
	row    []span
	values []byte
	known  []bool
}

type span struct{ from, to int }

// MatchText finds ids and feature rows in any JSON spelling: strings decoded, as a whole and as ends of a payment,
// and numbers as float32. Of broken JSON, all recognisable strings and rows are compared. Hits have the offset of
// their string or row. ScanBytes finds lethe's own spelling of longer ids.
func (sc *Scanner) MatchText(text []byte) []Hit {
	room, _ := sc.rooms.Get().(*runRoom)
	if room == nil {
		room = new(runRoom)
	}
	m := jsonMatch{sc: sc, runRoom: *room}
	m.text(text, 0, 0)
	m.carrying(text)
	m.rows(text, 0)
	*room = m.runRoom
	sc.rooms.Put(room)
	return m.hits
}

// MatchRecord searches an original record: its key, and value and headers in rest, with names in normal form. A
// subject key's bytes do not count: later records may have them.
func (sc *Scanner) MatchRecord(key []byte, rest ...[]byte) []Hit {
	var list hitList
	key = sc.names.Key(key)
	list.note(sc.MatchKey(key)...)
	start, named := keyStart(key)
	if !named {
		list.note(sc.MatchText(key)...)
	} else if text, quoted := unquoted(key[start:], rest); quoted {
		list.note(sc.MatchKey(text)...)
	}
	for _, part := range rest {
		list.note(scanPart(sc, part)...)
		list.note(sc.MatchText(part)...)
		list.note(sc.matchFeatures(key, part)...)
		if normal, other := sc.names.NormalPart(part); other {
			list.note(scanPart(sc, normal)...)
			list.note(sc.MatchText(normal)...)
			list.note(sc.matchFeatures(key, normal)...)
		}
	}
	hits := list.hits
	if len(sc.subjects) > 0 {
		hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.Kind == KindSubjectKey })
	}
	return hits
}

// text compares the strings of a text. A broken one may lack a quotation mark, so the parts between strings count
// too.
func (m *jsonMatch) text(data []byte, offset int64, depth int) {
	escaped := bytes.IndexByte(data, '\\') >= 0
	if !escaped && len(m.sc.keyed)+len(m.sc.payments) == 0 {
		return
	}
	inside, broken := true, !json.Valid(data)
	m.undivided(data, offset, depth, escaped, broken)
	around := m.ends
	m.ends = paymentEnds{keeps: broken}
	m.ends.pass(data[:max(0, bytes.IndexByte(data, '"'))])
	in, name := anyField, []byte(nil)
	for at := bytes.IndexByte(data, '"'); at >= 0 && at < len(data); inside = !inside {
		end := closingQuote(data, at+1)
		isName := inside && endsName(data, end)
		switch {
		case isName && fieldOf(string(Unescape(data[at+1:end]))) != anyField:
			m.at = plainField
		case inside && !isName:
			m.at = in
		}
		if !inside {
			m.ends.pass(data[at+1 : end])
		}
		if inside || broken {
			m.isName = !broken && inside && !isName && fitsName(string(name), data[at+1:end])
			m.str(data[at+1:end], offset+int64(at)+1, depth)
			m.isName = false
			m.end(data[at+1:end], endsName(data, end), offset+int64(at)+1)
		}
		if m.at = anyField; isName {
			name = Unescape(data[at+1 : end])
			in = fieldOf(string(name))
		}
		at = end
	}
	m.ends = around
}

// undivided compares a text as one string: unescaped, or a broken one without escapes as it is.
func (m *jsonMatch) undivided(data []byte, offset int64, depth int, escaped, broken bool) {
	if !escaped {
		if broken {
			m.whole(data, offset)
		}
		return
	}
	// Unescaped as a whole, valid JSON has no objects or names any more.
	before := m.noPayments
	if m.noPayments = before || !broken; !broken {
		data = remainder(data, depth)
	}
	m.str(data, offset, depth)
	m.noPayments = before
}

// endsName reports whether a colon follows a string.
func endsName(data []byte, end int) bool {
	for end++; end < len(data); end++ {
		switch data[end] {
		case ' ', '\t', '\r', '\n':
		default:
			return data[end] == ':'
		}
	}
	return false
}

// closingQuote returns the end of a string, or of the data.
func closingQuote(data []byte, from int) int {
	for at := from; at < len(data); at++ {
		switch data[at] {
		case '\\':
			at++
		case '"':
			return at
		}
	}
	return len(data)
}

func (m *jsonMatch) str(raw []byte, offset int64, depth int) {
	if bytes.IndexByte(raw, '\\') < 0 {
		m.whole(raw, offset)
		return
	}
	decoded := Unescape(raw)
	if m.whole(decoded, offset); m.isName {
		return
	}
	for _, h := range scanPart(m.sc, decoded) {
		m.note(Hit{h.Kind, h.Fingerprint, offset})
	}
	if depth < maxNesting && bytes.ContainsAny(decoded, `"\`) {
		m.text(decoded, offset, depth+1)
	}
	m.rows(decoded, offset)
}

// whole compares a string with payments, and it, or its two ends, with ids.
func (m *jsonMatch) whole(text []byte, offset int64) {
	if !m.noPayments {
		m.match(KindPaymentKey, m.sc.payments[len(text)], text, offset)
	}
	for part := range bytes.SplitSeq(text, []byte{'>'}) {
		if same := m.sc.whole[len(part)]; len(same) > 0 {
			m.match(KindID, same[m.sc.keys.base.hash(part)], part, offset)
		}
		if keyed := m.sc.keyed[len(part)]; len(keyed) > 0 && m.at.mayHold(string(part)) {
			m.match(KindIDKey, keyed, part, offset)
		}
	}
}

// unquoted returns the text of a key that is a JSON string, as some serializers write keys, unless the record names
// the quoted key itself.
func unquoted(key []byte, parts [][]byte) (text []byte, quoted bool) {
	var name string
	if len(key) == 0 || key[0] != '"' || json.Unmarshal(key, &name) != nil {
		return nil, false
	}
	for _, part := range parts {
		var record struct {
			ID, Transaction, Source, Target string
			Nodes                           []string
		}
		if json.Unmarshal(part, &record) != nil {
			continue
		}
		payment := record.Source + ">" + record.Target
		names := []string{record.ID, record.Transaction, record.Source, record.Target, payment}
		if slices.Contains(append(names, record.Nodes...), string(key)) {
			return nil, false
		}
	}
	return []byte(name), true
}
