package ingest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lethe"
	"lethe/internal/plainnumber"
)

// field is a set of field names, one bit each.
type field uint32

const (
	fieldType field = 1 << iota
	fieldID
	fieldTimestep
	fieldFeatures
	fieldSource
	fieldTarget
	fieldLabel
	fieldRequestID
	fieldNodes
	fieldScope
	fieldReason
	fieldRequestedAt
	fieldNonce
	fieldRequestDigest
	fieldDeadline
	fieldHoldID
	fieldUntil
	fieldPayments
	fieldSubjects
	fieldFeaturesOf
	noField field = 0
)

// fieldNames are the names of the fields, by their bits. Those of most records come first.
var fieldNames = [...]string{ //nolint:gochecknoglobals // a table
	"type", "id", "timestep", "features", "source", "target", "label",
	"request_id", "nodes", "scope", "reason", "requested_at", "nonce",
	"request_digest", "deadline", "hold_id", "until", "payments", "subjects", "features_of",
}

// fieldNamed returns the field with a name in a record.
func fieldNamed(name string) field {
	at := slices.Index(fieldNames[:], name)
	if at < 0 {
		return noField
	}
	return 1 << at
}

// names lists the fields of the set.
func (f field) names() string {
	var out []string
	for i, name := range fieldNames {
		if f&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// object is the parsed value of a record.
type object struct {
	present field
	// unknown means that a field name belongs to no format.
	unknown bool
	// respelled means that a name was not in its normal form.
	respelled bool
	// wrong lists the values that are of the wrong kind or out of range. They are
	// reported once the type is known: an unknown type is the better reason, and the
	// type decides which fields matter.
	wrong []wrongValue

	kind, id, source, target, label       string
	requestID, scope, reason, requestedAt string
	nonce, requestDigest, deadline        string
	holdID, until                         string
	timestep, untilTimestep               lethe.Timestep
	features                              []float32
	nodes, subjects                       []string
	payments                              []paymentBody
	featuresOf                            []featuresBody
	untilIsTimestep                       bool
	// furthest is the largest absolute value of the features, see the function furthest.
	furthest uint32
	// binary means that the value was Protobuf, of this schema.
	binary bool
	schema uint32
	// room, if not nil, provides the memory for features.
	room *rows
}

// wrongValue is why the value of a field is rejected.
type wrongValue struct {
	in      field
	refusal Refusal
}

// parseObject reads a record's value into an empty object. featureHint sizes the feature vector.
func parseObject(o *object, value []byte, featureHint int) *Refusal {
	if isBinary(value) {
		return &Refusal{Unparseable, "it begins with a zero byte, as records of Confluent's serializers do: send JSON"}
	}
	s, r := newScanner(value)
	if r != nil {
		return r
	}
	if !s.take('{') {
		return s.fail("expected an object")
	}
	if r := s.each('}', func() *Refusal { return o.member(s, featureHint) }); r != nil {
		return r
	}
	return s.end()
}

func (o *object) member(s *scanner, featureHint int) *Refusal {
	name, r := s.string()
	if r != nil {
		return r
	}
	if !s.take(':') {
		return s.fail("expected a colon")
	}
	f := fieldNamed(name)
	if f == noField {
		o.unknown = true
		return s.skip(0)
	}
	if o.present&f != 0 {
		return &Refusal{DuplicateField, fmt.Sprintf("second %s at byte %d", name, s.at)}
	}
	o.present |= f
	switch f {
	case fieldTimestep:
		return o.readTimestep(s, f, &o.timestep)
	case fieldUntil:
		// until is the last timestep for a subject, or the time at which a hold ends.
		if s.peek() == '"' {
			return o.readText(s, f, name)
		}
		o.untilIsTimestep = true
		return o.readTimestep(s, f, &o.untilTimestep)
	case fieldFeatures:
		return o.readFeatures(s, featureHint)
	case fieldNodes:
		return o.readList(s, f, "node", &o.nodes)
	case fieldSubjects:
		return o.readList(s, f, "subject", &o.subjects)
	case fieldPayments:
		return readObjects(o, s, f, &o.payments, "payment %d is not an object of source and target")
	case fieldFeaturesOf:
		return readObjects(o, s, f, &o.featuresOf,
			"features_of %d is not an object of id and, unless all features go, columns counted from 0")
	default:
		return o.readText(s, f, name)
	}
}

func (o *object) readText(s *scanner, f field, name string) *Refusal {
	if s.peek() != '"' {
		o.note(f, BadType, name+" is not a string")
		return s.skip(0)
	}
	text, r := s.string()
	*o.text(f) = text
	return r
}

// text is where the content of a field is kept that is a string.
func (o *object) text(f field) *string {
	switch f {
	case fieldType:
		return &o.kind
	case fieldID:
		return &o.id
	case fieldSource:
		return &o.source
	case fieldTarget:
		return &o.target
	case fieldLabel:
		return &o.label
	case fieldRequestID:
		return &o.requestID
	case fieldScope:
		return &o.scope
	case fieldReason:
		return &o.reason
	case fieldNonce:
		return &o.nonce
	case fieldRequestDigest:
		return &o.requestDigest
	case fieldDeadline:
		return &o.deadline
	case fieldHoldID:
		return &o.holdID
	case fieldUntil:
		return &o.until
	default:
		return &o.requestedAt
	}
}

func (o *object) readTimestep(s *scanner, f field, into *lethe.Timestep) *Refusal {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		o.note(f, BadType, f.names()+" is not a number")
		return s.skip(0)
	}
	text, r := s.number()
	if r != nil {
		return r
	}
	if n, ok := plainnumber.Integer(text, lethe.MaxTimestep); ok {
		*into = lethe.Timestep(n)
	} else {
		o.note(f, BadTimestep, f.names()+" is not an integer of 0..2^53")
	}
	return nil
}

func (o *object) readFeatures(s *scanner, hint int) *Refusal {
	if !s.take('[') {
		o.note(fieldFeatures, BadType, "features is not an array")
		return s.skip(0)
	}
	o.features = o.room.take(hint)
	if s.take(']') {
		return nil
	}
	o.features = s.plainNumbers(o.features)
	defer func() { o.furthest = furthest(o.features) }()
	return s.items(']', func() *Refusal {
		c := s.peek()
		if c == 'n' { // null is the only literal that begins with n
			o.features = append(o.features, lethe.Missing())
			return s.literal()
		}
		if c != '-' && (c < '0' || c > '9') {
			o.note(fieldFeatures, FeatureNotFinite, fmt.Sprintf("feature %d is not a number", len(o.features)))
			o.features = append(o.features, 0)
			return s.skip(0)
		}
		text, r := s.number()
		if r != nil {
			return r
		}
		v, err := strconv.ParseFloat(string(text), 32)
		if err != nil {
			o.note(fieldFeatures, FeatureNotFinite, fmt.Sprintf("feature %d overflows float32", len(o.features)))
		}
		o.features = append(o.features, float32(v))
		return nil
	})
}

func (o *object) note(f field, reason Reason, detail string) {
	o.wrong = append(o.wrong, wrongValue{f, Refusal{reason, detail}})
}

// hold checks that the object has every required field, no field beyond the optional
// ones, and only values of the right kind.
func (o *object) hold(required, optional field) *Refusal {
	if o.unknown {
		return &Refusal{UnknownField, "a field belongs to no format"}
	}
	if o.present&^(required|optional) != 0 {
		return &Refusal{UnknownField, "a field belongs to another type"}
	}
	return o.holdAmong(required, optional)
}

// holdAmong is like hold but ignores other fields.
func (o *object) holdAmong(required, optional field) *Refusal {
	if missing := required &^ o.present; missing != 0 {
		return &Refusal{MissingField, "absent: " + missing.names()}
	}
	for i := range o.wrong {
		if w := &o.wrong[i]; w.in&(required|optional) != 0 {
			return &w.refusal
		}
	}
	return nil
}

// more reports whether the object has fields beyond those of its type, or names that are not in
// normal form.
func (o *object) more(fields field) bool { return o.unknown || o.respelled || o.present&^fields != 0 }
