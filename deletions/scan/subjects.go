package scan

import (
	"bytes"
	"encoding/json"

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
	var said struct {
		Timestep *lethe.Timestep `json:"timestep"`
		Subjects []any           `json:"subjects"`
	}
	if !json.Valid(text) {
		m.strings(text)
		return
	}
	if !bytes.Contains(text, []byte("ubjects")) && bytes.IndexByte(text, '\\') < 0 {
		return
	}
	if err := json.Unmarshal(text, &said); err != nil && said.Subjects == nil {
		m.strings(text)
		return
	}
	for _, value := range said.Subjects {
		if subject, isText := value.(string); isText {
			m.subject([]byte(subject), said.Timestep)
		}
	}
}

// strings takes every string of a text for a subject.
func (m *jsonMatch) strings(text []byte) {
	for at := bytes.IndexByte(text, '"'); at >= 0 && at < len(text); {
		end := closingQuote(text, at+1)
		m.subject(unescape(text[at+1:end]), nil)
		at = end
	}
}

// subject compares a subject, at a timestep if that is known.
func (m *jsonMatch) subject(subject []byte, at *lethe.Timestep) {
	for _, hit := range m.sc.matching(KindSubject, m.sc.subjects[len(subject)], subject, 0) {
		if at == nil || *at <= m.sc.fingerprints[hit.Fingerprint].Until {
			m.hits = append(m.hits, hit)
		}
	}
}
