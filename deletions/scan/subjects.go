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

// A subject goes with what carries it up to a timestep, and may be carried by later records.
// So its key is looked for in records by what they say, with their timesteps, and its bytes in
// the files of stores alone.

// SubjectFingerprints returns the forms of a subject that is erased up to and including a
// timestep.
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

// carrying looks for the subjects of a record, or of a request. Of a text that is broken,
// which tells no timestep, every string counts.
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

// carried is what a JSON text says of the subjects that it carries. It keeps no list of them: one may be as long as the
// largest record.
type carried struct {
	sc *Scanner
	// timestep is the first that the text says, 0 if it says none that can be read.
	timestep lethe.Timestep
	dated    bool
	// listed says that there is a list of subjects, odd that something has not the form of the record formats.
	listed, odd bool
	// by are the fingerprints of its subjects.
	by map[int]bool
}

// read reads a text that is valid. Names are told apart as encoding/json does. The subjects of all lists count, at the
// first timestep of several, for nobody can tell which of them its reader takes.
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

// subjects reads what stands under that name and begins with a token.
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

// at takes what stands under timestep.
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

// strings takes every string of a text for a subject.
func (m *jsonMatch) strings(text []byte) {
	for at := bytes.IndexByte(text, '"'); at >= 0 && at < len(text); {
		end := closingQuote(text, at+1)
		subject := unescape(text[at+1 : end])
		m.match(KindSubject, m.sc.subjects[len(subject)], subject, 0)
		at = end
	}
}
