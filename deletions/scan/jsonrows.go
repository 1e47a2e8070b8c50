package scan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"lethe"
)

// rows compares every run of numbers and nulls separated by commas, in quotation marks or not.
func (m *jsonMatch) rows(data []byte, offset int64) {
	if bytes.Count(data, []byte{','}) < m.sc.fewestFeatures-1 {
		return
	}
	for at := 0; at < len(data); {
		if !beginsFeature(data, at) {
			at++
			continue
		}
		start := at
		m.row = m.row[:0]
		for more := true; more; {
			from := at
			at = pastFeature(data, at)
			if len(m.row) <= m.sc.mostFeatures { // one value more shows that the row is not searched for
				m.row = append(m.row, span{from, at})
			}
			at, more = pastComma(data, at)
		}
		m.compareRow(data, offset+int64(start))
	}
}

// pastComma returns the next feature's begin, if more follow, or where to continue.
func pastComma(data []byte, at int) (next int, more bool) {
	if at+1 < len(data) && data[at] == ',' && beginsFeature(data, at+1) {
		return at + 1, true
	}
	next = pastSpace(data, at)
	if next == len(data) || data[next] != ',' {
		return at, false
	}
	next = pastSpace(data, next+1)
	return next, next < len(data) && beginsFeature(data, next)
}

const missingText = "null"

func beginsFeature(data []byte, at int) bool {
	c := data[at]
	return isDigit(c) || c == '-' || c == missingText[0] && bytes.HasPrefix(data[at:], []byte(missingText))
}

// pastFeature returns the end of a number or null.
func pastFeature(data []byte, at int) int {
	if data[at] == missingText[0] {
		return at + len(missingText)
	}
	for at++; at < len(data) && inNumber(data[at]); {
		at++
	}
	return at
}

// pastSpace skips white space and quotation marks.
func pastSpace(data []byte, at int) int {
	for at < len(data) && isSpace(data[at]) {
		at++
	}
	return at
}

// inNumber reports whether c is a digit or one of . - + e E, which fit one word of bits from '+' on.
func inNumber(c byte) bool {
	const (
		digits = 0x3ff << ('0' - '+')
		others = 1 | 1<<('-'-'+') | 1<<('.'-'+') | 1<<('E'-'+') | 1<<('e'-'+')
	)
	c -= '+'
	return c < 64 && uint64(digits|others)>>c&1 != 0
}

func isSpace(c byte) bool { return c == ' ' || c == '"' || c == '\t' || c == '\r' || c == '\n' }

// compareRow compares a run with the feature rows of its length. It first reads only the numbers under anchors,
// hashes each anchor once per group and the whole run once: reading all numbers would take most of the time.
func (m *jsonMatch) compareRow(data []byte, offset int64) {
	groups := m.sc.rows[len(m.row)]
	if len(groups) == 0 {
		return
	}
	m.values, m.known = m.values[:0], m.known[:0]
	for range m.row {
		m.values, m.known = append(m.values, 0, 0, 0, 0), append(m.known, false)
	}
	var rolling uint64
	hashed := false
	for i := range groups {
		for _, e := range m.candidates(data, &groups[i]) {
			if !m.holds(data, groups[i].at+1, e.next) {
				continue
			}
			if !hashed {
				if !m.read(data, 0, len(m.row)-1) {
					return
				}
				rolling, hashed = m.sc.keys.base.hash(m.values), true
			}
			if rolling == e.rolling && m.sc.mac(KindFeatures, m.values) == m.sc.fingerprints[e.fingerprint].MAC {
				m.note(Hit{KindFeatures, e.fingerprint, offset})
			}
		}
	}
}

// candidates are the rows of a group with the run's first anchor.
func (m *jsonMatch) candidates(data []byte, group *rowGroup) []rowEntry {
	if !m.readBytes(data, group.at, anchorBytes) {
		return nil
	}
	return group.byAnchor[anchorOf(m.sc.keys.multiplier, m.values, group.at)]
}

// holds reports whether anchors are in the run from a place on.
func (m *jsonMatch) holds(data []byte, at int, anchors []uint64) bool {
	if len(anchors) > 0 && !m.readBytes(data, at, len(anchors)-1+anchorBytes) {
		return false
	}
	for k, anchor := range anchors {
		if anchorOf(m.sc.keys.multiplier, m.values, at+k) != anchor {
			return false
		}
	}
	return true
}

// readBytes reads the features behind some bytes of the row.
func (m *jsonMatch) readBytes(data []byte, at, count int) bool {
	return m.read(data, at/floatBytes, (at+count-1)/floatBytes)
}

// read reads features as their row bytes, each once, and reports whether all are numbers or null.
func (m *jsonMatch) read(data []byte, first, last int) bool {
	for i := first; i <= last; i++ {
		if m.known[i] {
			continue
		}
		value := lethe.Missing()
		if text := string(data[m.row[i].from:m.row[i].to]); text != missingText {
			v, err := strconv.ParseFloat(text, 32)
			if err != nil {
				return false
			}
			value = float32(v)
		}
		binary.LittleEndian.PutUint32(m.values[i*floatBytes:], math.Float32bits(value))
		m.known[i] = true
	}
	return true
}

// In valid JSON, a string in a field of names that may be a name is compared as a whole: parts of it are other
// names.

// eachString calls fn for every string of valid JSON that is not a field's name. isName means that it is a name.
func eachString(text []byte, fn func(s span, isName bool)) {
	name := ""
	for at := bytes.IndexByte(text, '"'); at >= 0 && at < len(text); {
		end := closingQuote(text, at+1)
		if raw := text[at+1 : max(at+1, end)]; endsName(text, end) {
			name = fieldName(raw)
		} else {
			fn(span{at + 1, end}, fitsName(name, raw))
		}
		next := bytes.IndexByte(text[min(end+1, len(text)):], '"')
		if next < 0 {
			return
		}
		at = end + 1 + next
	}
}

// fieldName returns the name of a field, or "" if it is too long for a field of names.
func fieldName(raw []byte) string {
	const longest = 6 * len("transaction")
	if len(raw) > longest {
		return ""
	}
	return string(Unescape(raw))
}

// remainder is valid JSON without strings compared separately: names, and nested JSON.
func remainder(text []byte, depth int) []byte {
	out, from := make([]byte, 0, len(text)), 0
	eachString(text, func(s span, isName bool) {
		if isName || depth < maxNesting && isNestedJSON(text[s.from:s.to]) {
			out, from = append(out, text[from:s.from]...), s.to
		}
	})
	return append(out, text[from:]...)
}

func isNestedJSON(raw []byte) bool {
	begins := bytes.TrimLeft(raw, " ")
	if len(begins) == 0 || begins[0] != '{' && begins[0] != '[' || bytes.IndexByte(raw, '\\') < 0 {
		return false
	}
	return json.Valid(Unescape(raw))
}

// scanPart is ScanBytes without hits inside the names of valid JSON.
func scanPart(sc *Scanner, part []byte) []Hit {
	hits := sc.ScanBytes(part)
	if !slices.ContainsFunc(hits, func(h Hit) bool { return ofName(h.Kind) }) || !json.Valid(part) {
		return hits
	}
	kept, next := hits[:0], 0
	eachString(part, func(s span, isName bool) {
		if !isName {
			return
		}
		for ; next < len(hits) && int(hits[next].Offset) < s.to; next++ {
			from := int(hits[next].Offset)
			found := span{from, from + sc.fingerprints[hits[next].Fingerprint].Length}
			if !ofName(hits[next].Kind) || from < s.from || found.to > s.to || found == s {
				kept = append(kept, hits[next])
			}
		}
	})
	return append(kept, hits[next:]...)
}
