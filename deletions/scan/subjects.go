package scan

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lethe"
)

// A subject is erased up to a timestep, and later records may carry it. So records are decoded and compared with
// their timestep, and only store files are searched for its bytes.

// SubjectFingerprints returns the forms of a subject erased through a timestep.
func SubjectFingerprints(secret lethe.Secret, subject string, until lethe.Timestep) ([]Fingerprint, error) {
	set := fingerprintSet{secret: secret}
	set.add(KindSubject, []byte(subject))
	for i := range set.list {
		set.list[i].Until = until
	}
	if len(subject) >= BoundedIDBytes && !isWord(subject) {
		set.add(KindSubjectKey, []byte(subject))
	}
	return set.list, set.err
}

// carrying finds subjects in a record or request. In broken JSON, without a timestep, every string counts.
func (m *jsonMatch) carrying(text []byte) {
	if len(m.sc.subjects) == 0 {
		return
	}
	if !json.Valid(text) {
		m.strings(text)
		return
	}
	if !bytes.Contains(text, []byte("ubjects")) && bytes.IndexByte(text, '\\') < 0 {
		return
	}
	said := carried{sc: m.sc, by: make(map[int]bool)}
	said.read(&tokens{text: text})
	if said.odd && !said.listed {
		m.strings(text)
		return
	}
	for _, i := range slices.Sorted(maps.Keys(said.by)) {
		if said.timestep <= m.sc.fingerprints[i].Until {
			m.note(Hit{KindSubject, i, 0})
		}
	}
}

// carried are the subjects in a JSON text, without a list, which may be as large as a record.
type carried struct {
	sc *Scanner
	// timestep is the first one in the text, 0 if unreadable.
	timestep lethe.Timestep
	dated    bool
	// listed: there is a list of subjects. odd: something is not in the record format.
	listed, odd bool
	by          map[int]bool
}

// read reads valid JSON with field names as encoding/json matches them. All lists count, at the first of several
// timesteps, since readers differ.
func (c *carried) read(text *tokens) {
	first := text.next()
	if first.kind != '{' {
		c.odd = !first.isNull()
		return
	}
	for name := text.next(); name.kind == stringToken; name = text.next() {
		value := text.next()
		switch said := name.said(); {
		case strings.EqualFold(said, "subjects"):
			c.subjects(text, value)
		case strings.EqualFold(said, "timestep"):
			c.at(value)
			text.pastValue(value)
		default:
			text.pastValue(value)
		}
	}
}

func (c *carried) subjects(text *tokens, first token) {
	if first.kind != '[' {
		c.listed = c.listed && !first.isNull()
		c.odd = c.odd || !first.isNull()
		text.pastValue(first)
		return
	}
	c.listed = true
	for one := text.next(); one.kind != ']' && one.kind != noToken; one = text.next() {
		if one.kind != stringToken {
			text.pastValue(one)
			continue
		}
		subject := []byte(one.said())
		for _, hit := range c.sc.matching(KindSubject, c.sc.subjects[len(subject)], subject, 0) {
			c.by[hit.Fingerprint] = true
		}
	}
}

func (c *carried) at(value token) {
	var at lethe.Timestep
	if !value.isNull() {
		said, err := strconv.ParseInt(string(value.raw), 10, 64)
		if at = lethe.Timestep(said); err != nil || value.kind != literalToken {
			at, c.odd = 0, true
		}
	}
	if !c.dated || at < c.timestep {
		c.timestep = at
	}
	c.dated = true
}

// strings compares every string with the subjects.
func (m *jsonMatch) strings(text []byte) {
	for at := bytes.IndexByte(text, '"'); at >= 0 && at < len(text); {
		end := closingQuote(text, at+1)
		subject := unescape(text[at+1 : end])
		m.match(KindSubject, m.sc.subjects[len(subject)], subject, 0)
		at = end
	}
}
