package scan

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"lethe"
)

// rows compares every run of numbers and nulls separated by commas, in quotation marks or not.
func (m *jsonMatch) rows(data []byte, offset int64) {
	if len(m.sc.rows) == 0 {
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
			if len(m.row) <= m.sc.mostFeatures { // one more tells that it is none that is looked for
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
