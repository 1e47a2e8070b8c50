package scan

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/canonical"
)

const (
	// BoundedIDBytes is the length from which an id is searched raw, where it stands alone.
	BoundedIDBytes = 6
	// framedIDBytes is the shortest framed id: 4 bytes of length and 3 of id. Shorter ones occur in lists of edges.
	framedIDBytes = 7
	// floatBytes is the size of one feature in a row.
	floatBytes         = 4
	pseudonymTailBytes = 12
)

// idFields are the JSON fields that hold an id.
func idFields() []string { return []string{"id", "source", "target", "transaction"} }

// IDFingerprints returns the forms of an id.
//
// From 6 bytes on these are the raw id and its JSON escape. A shorter one occurs by chance in any data and is
// searched only where delimited: as a whole key, in quotes (4 and 5 bytes), after its length (3 bytes and more),
// after an id field's name (1 to 3 bytes). Elsewhere it is missed, but not its pseudonym, which stores keep next to
// it. A word (names.go) is searched as a whole key and after an id field's name.
func IDFingerprints(secret lethe.Secret, id lethe.TransactionID) ([]Fingerprint, error) {
	set := fingerprintSet{secret: secret}
	raw := []byte(id)
	escaped := jsonText(id)
	word := isWord(string(id))
	switch {
	case len(raw) == 0:
		return nil, fmt.Errorf("%w: empty id", ErrNeedle)
	case len(raw) >= BoundedIDBytes && !word:
		set.add(KindID, raw)
		if !bytes.Equal(escaped, raw) {
			set.add(KindIDJSON, escaped)
		}
		return set.list, set.err
	}
	set.add(KindIDKey, raw)
	quoted := slices.Concat([]byte{'"'}, escaped, []byte{'"'})
	if len(raw) >= quotedIDBytes && !word {
		set.add(KindIDQuoted, quoted)
	} else {
		for _, field := range idFields() {
			set.add(KindIDField, append([]byte(`"`+field+`":`), quoted...))
			set.add(KindIDField, append([]byte(`"`+field+`": `), quoted...))
		}
	}
	if 4+len(raw) >= framedIDBytes && !word {
		set.add(KindIDFramed, append(binary.LittleEndian.AppendUint32(nil, uint32(len(raw))), raw...))
	}
	return set.list, set.err
}

// PseudonymFingerprints returns the forms of a pseudonym.
func PseudonymFingerprints(secret lethe.Secret, p lethe.Pseudonym) ([]Fingerprint, error) {
	set := fingerprintSet{secret: secret}
	tail := p[len(p)-pseudonymTailBytes:]
	set.add(KindPseudonym, tail)
	set.add(KindPseudonymHex, []byte(hex.EncodeToString(tail)))
	return set.list, set.err
}

// TransactionFingerprints returns the forms of a transaction's id and pseudonym.
func TransactionFingerprints(secret lethe.Secret, id lethe.TransactionID) ([]Fingerprint, error) {
	set := fingerprintSet{secret: secret}
	set.forms(IDFingerprints(secret, id))
	set.forms(PseudonymFingerprints(secret, secret.Pseudonym(id)))
	return set.list, set.err
}

// Forms are those of a node.
type Forms struct {
	Found []Fingerprint
	// NotSearched are the kinds that would not identify it, ascending.
	NotSearched []Kind
}

// NodeFingerprints returns the forms of some nodes of a snapshot: ids, pseudonyms, features. It leaves out, and
// names, feature rows that would not identify a node: too short, without two different values besides 0 and missing,
// or with bytes that occur in the rest of the timestep.
func NodeFingerprints(secret lethe.Secret, s *lethe.Snapshot, nodes []int) ([]Forms, error) {
	gone := make([]bool, len(s.Nodes))
	for _, node := range nodes {
		if node < 0 || node >= len(s.Nodes) {
			return nil, fmt.Errorf("timestep %d: node %d of %d", s.Timestep, node, len(s.Nodes))
		}
		gone[node] = true
	}
	stays := s.Without(func(p lethe.Pseudonym) bool {
		i, ok := s.Find(p)
		return ok && gone[i]
	})
	keptBytes, keptText := canonical.EncodeSnapshot(stays), featureLines(stays, s, nodes)
	out := make([]Forms, len(nodes))
	for i, node := range nodes {
		set := fingerprintSet{secret: secret}
		set.forms(IDFingerprints(secret, s.Nodes[node].ID))
		set.forms(PseudonymFingerprints(secret, s.Nodes[node].Pseudonym))
		out[i].NotSearched = NotSearched(s.Nodes[node].ID)
		row := s.Row(node)
		raw, text := featureBytes(row), featureText(row)
		if !distinctive(row) || len(raw) < MinNeedleBytes || bytes.Contains(keptBytes, raw) {
			out[i].NotSearched = append(out[i].NotSearched, KindFeatures)
		} else {
			set.add(KindFeatures, raw)
		}
		if !distinctive(row) || len(text) < MinNeedleBytes || bytes.Contains(keptText, text) {
			out[i].NotSearched = append(out[i].NotSearched, KindFeaturesText)
		} else {
			set.add(KindFeaturesText, text)
		}
		if set.err != nil {
			return nil, fmt.Errorf("timestep %d: %w", s.Timestep, set.err)
		}
		out[i].Found = set.list
	}
	return out, nil
}

// distinctive reports whether a row has two different values besides 0 and missing. Rows with fewer occur inside other
// rows.
func distinctive(row []float32) bool {
	first := float32(0)
	for _, v := range row {
		if v == 0 || lethe.IsMissing(v) || v == first {
			continue
		}
		if first != 0 {
			return true
		}
		first = v
	}
	return false
}

// featureLines are the texts, a line each, of rows that may contain the text of one of some other rows.
func featureLines(s, of *lethe.Snapshot, rows []int) []byte {
	var out []byte
	for i := range s.Nodes {
		row := s.Row(i)
		if slices.ContainsFunc(rows, func(other int) bool { return mayHold(row, of.Row(other)) }) {
			out = append(append(out, featureText(row)...), '\n')
		}
	}
	return out
}

// mayHold reports whether a row's text may contain another's of the same length: only the first and last values may
// differ, as in 10.25 and 0.25.
func mayHold(row, other []float32) bool {
	for i := 1; i < len(row)-1; i++ {
		if row[i] != other[i] && !(lethe.IsMissing(row[i]) && lethe.IsMissing(other[i])) {
			return false
		}
	}
	return true
}

type fingerprintSet struct {
	secret lethe.Secret
	list   []Fingerprint
	err    error
}

func (c *fingerprintSet) add(kind Kind, needle []byte) {
	f, err := NewFingerprint(c.secret, kind, needle)
	if err != nil {
		c.err = err
		return
	}
	c.list = append(c.list, f)
}

func (c *fingerprintSet) forms(list []Fingerprint, err error) {
	if err != nil {
		c.err = err
	}
	c.list = append(c.list, list...)
}

// jsonText is the id as JSON without quotes.
func jsonText(id lethe.TransactionID) []byte {
	out, err := json.Marshal(string(id))
	if err != nil {
		return []byte(id)
	}
	return out[1 : len(out)-1]
}

func featureBytes(row []float32) []byte {
	out := make([]byte, 0, 4*len(row))
	for _, v := range row {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

// featureText is the row as package ingest writes it.
func featureText(row []float32) []byte {
	var out []byte
	for i, v := range row {
		if i > 0 {
			out = append(out, ',')
		}
		out = lethe.AppendFeature(out, v)
	}
	return out
}
