package ingest

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"lethe"
)

// The Encode functions return the canonical key and value of a record. They fail only on
// input that decoding would reject; the error is a *Refusal.

// EncodeTransaction returns key and value of a transaction. Features are written as the
// shortest decimals that decode to the same float32, missing ones as null.
func EncodeTransaction(t lethe.Transaction) (key, value []byte, err error) {
	if !lethe.ValidID(string(t.ID)) {
		return nil, nil, &Refusal{BadID, "id is not valid"}
	}
	if r := checkTimestep(t.Timestep); r != nil {
		return nil, nil, r
	}
	if len(t.Features) == 0 {
		return nil, nil, &Refusal{FeatureCount, "no features"}
	}
	value = make([]byte, 0, 64+len(t.ID)+12*len(t.Features))
	value = append(value, `{"type":"transaction","id":`...)
	value = appendText(value, string(t.ID))
	value = appendTimestep(value, t.Timestep)
	value = append(value, `,"features":[`...)
	for i, f := range t.Features {
		if math.IsInf(float64(f), 0) {
			return nil, nil, &Refusal{FeatureNotFinite, fmt.Sprintf("feature %d", i)}
		}
		if i > 0 {
			value = append(value, ',')
		}
		value = lethe.AppendFeature(value, f)
	}
	value = append(value, ']')
	if len(t.Subjects) > 0 {
		subjects, err := json.Marshal(t.Subjects)
		if err != nil {
			return nil, nil, &Refusal{BadSubject, "subjects cannot be written as JSON"}
		}
		value = append(append(value, `,"subjects":`...), subjects...)
	}
	return TransactionKey(t.ID), append(value, '}'), nil
}

// EncodePayment returns key and value of a payment.
func EncodePayment(p lethe.Payment) (key, value []byte, err error) {
	switch {
	case !lethe.ValidID(string(p.Source)):
		return nil, nil, &Refusal{BadID, "source is not valid"}
	case !lethe.ValidID(string(p.Target)):
		return nil, nil, &Refusal{BadID, "target is not valid"}
	case p.Source == p.Target:
		return nil, nil, &Refusal{SelfLoop, "source and target are the same"}
	}
	if r := checkTimestep(p.Timestep); r != nil {
		return nil, nil, r
	}
	value = append(value, `{"type":"payment","source":`...)
	value = appendText(value, string(p.Source))
	value = append(value, `,"target":`...)
	value = appendText(value, string(p.Target))
	value = appendTimestep(value, p.Timestep)
	return PaymentKey(p.Source, p.Target), append(value, '}'), nil
}

// EncodeLabel returns key and value of a label.
func EncodeLabel(l lethe.LabelRecord) (key, value []byte, err error) {
	if !lethe.ValidID(string(l.ID)) {
		return nil, nil, &Refusal{BadID, "id is not valid"}
	}
	if l.Label >= lethe.NumLabels {
		return nil, nil, &Refusal{UnknownLabel, "label is not one of illicit, licit, unknown"}
	}
	if r := checkTimestep(l.Timestep); r != nil {
		return nil, nil, r
	}
	value = append(value, `{"type":"label","id":`...)
	value = appendText(value, string(l.ID))
	value = appendTimestep(value, l.Timestep)
	value = append(value, `,"label":`...)
	value = appendText(value, l.Label.String())
	return TransactionKey(l.ID), append(value, '}'), nil
}

// EncodeClose returns key and value of the close of one partition; write it pinned to
// that partition. The timestep must be in 0..2^53.
func EncodeClose(t lethe.Timestep, partition int) (key, value []byte) {
	return CloseKey(t, partition), append(appendTimestep([]byte(`{"type":"close"`), t), '}')
}

// EncodeSettle returns key and value of the settle of one partition; write it pinned to
// that partition. The timestep must be in 0..2^53.
func EncodeSettle(t lethe.Timestep, partition int) (key, value []byte) {
	return SettleKey(t, partition), append(appendTimestep([]byte(`{"type":"settle"`), t), '}')
}

// EncodeMarker returns key and value of the marker of one partition; write it
// pinned to that partition.
func EncodeMarker(partition int) (key, value []byte) {
	return MarkerKey(partition), []byte(`{"type":"marker"}`)
}

// EncodeErasure returns key and value of an erasure request. A zero requestedAt and an empty
// reason, scope, nonce or deadline are left out. Targets are grouped by kind and keep their order
// within a kind, and decoding returns them in this order. The error is a *Refusal or
// lethe.ErrTarget.
func EncodeErasure(request lethe.ErasureRequest, requestedAt time.Time) (key, value []byte, err error) {
	if !ValidRequestID(request.RequestID) {
		return nil, nil, &Refusal{BadRequestID, "request id is not 1..128 of A-Z a-z 0-9 . _ -"}
	}
	if !utf8.ValidString(request.Reason) {
		return nil, nil, &Refusal{BadReasonText, "invalid UTF-8"}
	}
	if err := lethe.CheckTargets(request.Targets); err != nil {
		return nil, nil, fmt.Errorf("erasure request: %w", err)
	}
	body := erasureBody{
		Type: "erasure", RequestID: request.RequestID, Scope: request.Scope, Reason: request.Reason, Nonce: request.Nonce,
	}
	if !request.Deadline.IsZero() {
		body.Deadline = request.Deadline.UTC().Format(time.RFC3339Nano)
	}
	if len(request.Targets) == 0 {
		body.Nodes = []lethe.TransactionID{}
	}
	for _, t := range request.Targets {
		switch t.Kind {
		case lethe.PaymentTarget:
			body.Payments = append(body.Payments, paymentBody{t.Payment.Source, t.Payment.Target})
		case lethe.FeaturesTarget:
			body.FeaturesOf = append(body.FeaturesOf, featuresBody{t.Transaction, columns(t.Columns)})
		case lethe.SubjectTarget:
			body.Subjects = append(body.Subjects, t.Subject)
			if t.Until != lethe.NoTimestep {
				body.Until = &t.Until
			}
		default:
			body.Nodes = append(body.Nodes, t.Transaction)
		}
	}
	if !requestedAt.IsZero() {
		body.RequestedAt = requestedAt.UTC().Format(time.RFC3339Nano)
	}
	if value, err = json.Marshal(body); err != nil {
		return nil, nil, &Refusal{BadReasonText, "cannot be written as JSON"}
	}
	key = []byte(request.RequestID)
	if _, err := DecodeErasure(Record{Key: key, Value: value}, DefaultLimits()); err != nil {
		return nil, nil, err
	}
	return key, value, nil
}

// erasureBody is the JSON of a request.
type erasureBody struct {
	Type        string                `json:"type"`
	RequestID   string                `json:"request_id"`
	Nodes       []lethe.TransactionID `json:"nodes,omitzero"`
	Payments    []paymentBody         `json:"payments,omitempty"`
	FeaturesOf  []featuresBody        `json:"features_of,omitempty"`
	Subjects    []string              `json:"subjects,omitempty"`
	Until       *lethe.Timestep       `json:"until,omitempty"`
	Scope       lethe.Scope           `json:"scope,omitempty"`
	Reason      string                `json:"reason,omitempty"`
	RequestedAt string                `json:"requested_at,omitempty"`
	Nonce       string                `json:"nonce,omitempty"`
	Deadline    string                `json:"deadline,omitempty"`
}

type featuresBody struct {
	ID      lethe.TransactionID `json:"id"`
	Columns columns             `json:"columns,omitempty"`
}

type paymentBody struct {
	Source lethe.TransactionID `json:"source"`
	Target lethe.TransactionID `json:"target"`
}

func checkTimestep(t lethe.Timestep) *Refusal {
	if t < 0 || t > lethe.MaxTimestep {
		return &Refusal{BadTimestep, "timestep is not an integer of 0..2^53"}
	}
	return nil
}

func appendTimestep(b []byte, t lethe.Timestep) []byte {
	return strconv.AppendInt(append(b, `,"timestep":`...), int64(t), 10)
}

// appendText appends a JSON string. The text is a valid id or a label, so only
// two characters need an escape.
func appendText(b []byte, text string) []byte {
	b = append(b, '"')
	for i := range len(text) {
		if c := text[i]; c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, text[i])
	}
	return append(b, '"')
}
