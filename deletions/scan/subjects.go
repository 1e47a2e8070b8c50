package scan

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

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
	subjects := carried{sc: m.sc, by: make(map[int]bool)}
	if err := subjects.read(reading(text)); err != nil || subjects.odd && !subjects.listed {
		m.strings(text)
		return
	}
	for _, i := range slices.Sorted(maps.Keys(subjects.by)) {
		if subjects.timestep <= m.sc.fingerprints[i].Until {
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
func (c *carried) read(text *jsontext.Decoder) error {
	first, err := text.ReadToken()
	if err != nil || first.Kind() != '{' {
		c.odd = first.Kind() != 'n'
		return err
	}
	for {
		name, err := text.ReadToken()
		if err != nil || name.Kind() == '}' {
			return err
		}
		switch subjects := name.String(); {
		case strings.EqualFold(subjects, "subjects"):
			err = c.subjects(text)
		case strings.EqualFold(subjects, "timestep"):
			err = c.at(text)
		default:
			err = text.SkipValue()
		}
		if err != nil {
			return err
		}
	}
}

func (c *carried) subjects(text *jsontext.Decoder) error {
	if kind := text.PeekKind(); kind != '[' {
		c.listed = c.listed && kind == 'n'
		c.odd = c.odd || kind != 'n'
		return text.SkipValue()
	}
	c.listed = true
	_, err := text.ReadToken()
	for err == nil && text.PeekKind() != ']' {
		if text.PeekKind() != '"' {
			err = text.SkipValue()
			continue
		}
		var one jsontext.Token
		if one, err = text.ReadToken(); err == nil {
			subject := []byte(one.String())
			for _, hit := range c.sc.matching(KindSubject, c.sc.subjects[len(subject)], subject, 0) {
				c.by[hit.Fingerprint] = true
			}
		}
	}
	if err == nil {
		_, err = text.ReadToken()
	}
	return err
}

func (c *carried) at(text *jsontext.Decoder) error {
	value, err := text.ReadValue()
	var at lethe.Timestep
	if err == nil && value.Kind() != 'n' && json.Unmarshal(value, &at) != nil {
		at, c.odd = 0, true
	}
	if !c.dated || at < c.timestep {
		c.timestep = at
	}
	c.dated = true
	return err
}

// strings compares every string with the subjects.
func (m *jsonMatch) strings(text []byte) {
	for at := bytes.IndexByte(text, '"'); at >= 0 && at < len(text); {
		end := closingQuote(text, at+1)
		subject := Unescape(text[at+1 : end])
		m.match(KindSubject, m.sc.subjects[len(subject)], subject, 0)
		at = end
	}
}
