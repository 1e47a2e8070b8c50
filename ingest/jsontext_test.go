package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"lethe"
)

// tokens reads the value of a record with jsontext. Names given twice are
// allowed here, because member tells them from other faults.
type tokens struct{ *jsontext.Decoder }

// unparseable says where the text is no JSON. The tokenizer's own words may
// repeat content.
func (t tokens) unparseable(err error) *Refusal {
	at := t.InputOffset()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		at = syntax.ByteOffset
	}
	return &Refusal{Unparseable, fmt.Sprintf("malformed JSON at byte %d", at)}
}

func (t tokens) skip() *Refusal {
	const maxDepth = 33
	depth := t.StackDepth()
	for {
		before := t.StackDepth()
		token, err := t.ReadToken()
		if err != nil {
			return t.unparseable(err)
		}
		if kind := token.Kind(); before > maxDepth && kind != ']' && kind != '}' {
			return &Refusal{Unparseable, fmt.Sprintf("nested too deep at byte %d", t.InputOffset())}
		}
		if t.StackDepth() <= depth {
			return nil
		}
	}
}

func parseByJsontext(value []byte, featureHint int) (*object, *Refusal) {
	if !utf8.Valid(value) {
		return nil, &Refusal{Unparseable, "invalid UTF-8"}
	}
	t := tokens{jsontext.NewDecoder(bytes.NewBuffer(value), jsontext.AllowDuplicateNames(true))}
	if t.PeekKind() != '{' {
		return nil, &Refusal{Unparseable, "no object"}
	}
	if _, err := t.ReadToken(); err != nil {
		return nil, t.unparseable(err)
	}
	o := &object{}
	for t.PeekKind() != '}' {
		if r := o.member2(t, featureHint); r != nil {
			return nil, r
		}
	}
	if _, err := t.ReadToken(); err != nil {
		return nil, t.unparseable(err)
	}
	if err := t.end(); err != nil {
		return nil, t.unparseable(err)
	}
	return o, nil
}

func textOf(raw jsontext.Value) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	out, _ := jsontext.AppendUnquote(nil, raw)
	return string(out)
}

func (t tokens) end() error {
	if rest := bytes.TrimLeft(t.UnreadBuffer(), " \t\r\n"); len(rest) > 0 {
		return errors.New("bytes after the object")
	}
	return nil
}

func (o *object) member2(t tokens, hint int) *Refusal {
	raw, err := t.ReadValue()
	if err != nil {
		return t.unparseable(err)
	}
	name := textOf(raw)
	f := fieldNamed(name)
	if f == noField {
		o.unknown = true
		return t.skip()
	}
	// our order: colon first
	if o.present&f != 0 {
		if t.PeekKind() == 0 {
			_, err := t.ReadToken()
			return t.unparseable(err)
		}
		return &Refusal{DuplicateField, fmt.Sprintf("second %s at byte %d", name, t.InputOffset())}
	}
	o.present |= f
	switch f {
	case fieldTimestep:
		return o.readTimestep2(t)
	case fieldFeatures:
		return o.readFeatures2(t, hint)
	case fieldNodes:
		return o.readNodes2(t)
	default:
		return o.readText2(t, f, name)
	}
}

func (o *object) readText2(t tokens, f field, name string) *Refusal {
	if t.PeekKind() != '"' {
		o.note(BadType, name+" is not a string")
		return t.skip()
	}
	raw, err := t.ReadValue()
	if err != nil {
		return t.unparseable(err)
	}
	text := textOf(raw)
	switch f {
	case fieldType:
		o.kind = text
	case fieldID:
		o.id = text
	case fieldSource:
		o.source = text
	case fieldTarget:
		o.target = text
	case fieldLabel:
		o.label = text
	case fieldRequestID:
		o.requestID = text
	case fieldScope:
		o.scope = text
	case fieldReason:
		o.reason = text
	default:
		o.requestedAt = text
	}
	return nil
}

func (o *object) readTimestep2(t tokens) *Refusal {
	if t.PeekKind() != '0' {
		o.note(BadType, "timestep is not a number")
		return t.skip()
	}
	text, err := t.ReadValue()
	if err != nil {
		return t.unparseable(err)
	}
	if n, err := strconv.ParseUint(string(text), 10, 64); err == nil && n <= maxTimestep {
		o.timestep = lethe.Timestep(n)
	} else {
		o.note(BadTimestep, "timestep is not an integer of 0..2^53")
	}
	return nil
}

func (o *object) readFeatures2(t tokens, hint int) *Refusal {
	if t.PeekKind() != '[' {
		o.note(BadType, "features is not an array")
		return t.skip()
	}
	if _, err := t.ReadToken(); err != nil {
		return t.unparseable(err)
	}
	o.features = make([]float32, 0, hint)
	for {
		switch t.PeekKind() {
		case ']':
			_, err := t.ReadToken()
			if err != nil {
				return t.unparseable(err)
			}
			return nil
		case '0':
			text, err := t.ReadValue()
			if err != nil {
				return t.unparseable(err)
			}
			v, err := strconv.ParseFloat(string(text), 32)
			if err != nil {
				o.note(FeatureNotFinite, fmt.Sprintf("feature %d overflows float32", len(o.features)))
			}
			o.features = append(o.features, float32(v))
		default:
			o.note(FeatureNotFinite, fmt.Sprintf("feature %d is not a number", len(o.features)))
			o.features = append(o.features, 0)
			if r := t.skip(); r != nil {
				return r
			}
		}
	}
}

func (o *object) readNodes2(t tokens) *Refusal { return t.skip() }
