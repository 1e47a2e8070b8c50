package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs"
	"lethe/scoring/reasons"
)

// HeldTarget is the stored data of a transaction, payment or subject, and its locations: it
// implements a person's right of access. Other people's data appears only if their payments name
// the target.
type HeldTarget struct {
	graphs.Held
	// Prediction and Reasons are the newest of the transaction itself.
	Prediction json.RawMessage `json:"prediction,omitempty"`
	Reasons    json.RawMessage `json:"reasons,omitempty"`
	// ReasonsNaming are the records of reasons in which one end of a payment names the other, by
	// the transaction that they explain.
	ReasonsNaming map[lethe.TransactionID]json.RawMessage `json:"reasons_naming,omitempty"`
	// DeadLetters are rejected records that name it, unchanged.
	DeadLetters []graphs.HeldRecord `json:"dead_letters"`
	// Places are the topics with records that name it, including superseded ones.
	Places []HeldPlace `json:"places"`
}

// HeldPlace is a topic that names a target.
type HeldPlace struct {
	Topic   bus.Topic `json:"topic"`
	Records int       `json:"records"`
}

// exportTopics lists the topics whose records may name a transaction in plain text. Graphs, slices
// and models hold pseudonyms and feature rows; the stores of the graphs provide that data.
func exportTopics() []bus.Topic {
	return []bus.Topic{bus.Transactions, bus.Labels, bus.Predictions, bus.Reasons, bus.DeadLetters}
}

// export adds the data in topics. Every topic is read once, from its start.
func (p *plans) export(ctx context.Context, held []graphs.Held) ([]HeldTarget, error) {
	out := make([]HeldTarget, len(held))
	targets := make([]lethe.Target, len(held))
	for i, h := range held {
		out[i] = HeldTarget{Held: h, DeadLetters: []graphs.HeldRecord{}, Places: []HeldPlace{}}
		targets[i] = h.Target()
	}
	names, err := graphs.Naming(p.secret, p.config.Ingest.Records.Normalise, targets...)
	if err != nil {
		return nil, err
	}
	for _, topic := range exportTopics() {
		counts := make([]int, len(out))
		err := p.client.ReadAll(ctx, topic, func(rec ingest.Record) error {
			if rec.Tombstone() {
				for i := range out {
					out[i].withdrawn(topic, rec)
				}
				return nil
			}
			named := names(rec.Key, rec.Parts()...)
			for i := range out {
				if slices.Contains(named, i) || topic == bus.Reasons && out[i].reasonsName(rec) {
					counts[i]++
					out[i].found(topic, rec)
				} else {
					out[i].withdrawn(topic, rec) // another record replaced it
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", topic, err)
		}
		for i, n := range counts {
			if n > 0 {
				out[i].Places = append(out[i].Places, HeldPlace{topic, n})
			}
		}
	}
	return out, nil
}

// reasonsName adds a record of reasons if it belongs to one end of the payment and names the other,
// and reports whether it does.
func (h *HeldTarget) reasonsName(rec ingest.Record) bool {
	ends := h.Target().Payment
	other, against := ends.Target, "in"
	switch lethe.TransactionID(rec.Key) {
	case "":
		return false
	case ends.Source:
	case ends.Target:
		other, against = ends.Source, "out"
	default:
		return false
	}
	var record reasons.Record
	if json.Unmarshal(rec.Value, &record) != nil {
		return false
	}
	return slices.ContainsFunc(record.Components, func(c reasons.Component) bool {
		return slices.ContainsFunc(c.Reasons, func(r reasons.Reason) bool {
			return r.Transaction == other && r.Direction != against
		})
	})
}

// found stores the content of a record about the target itself.
func (h *HeldTarget) found(topic bus.Topic, rec ingest.Record) {
	own := h.ID != "" && lethe.TransactionID(rec.Key) == h.ID
	switch {
	case topic == bus.Reasons && h.Payment != "":
		if h.ReasonsNaming == nil {
			h.ReasonsNaming = make(map[lethe.TransactionID]json.RawMessage)
		}
		h.ReasonsNaming[lethe.TransactionID(rec.Key)] = rec.Value
	case topic == bus.DeadLetters:
		h.withdrawn(topic, rec)
		letter := graphs.HeldRecord{Topic: string(topic), Key: string(rec.Key), Value: ingest.Text(rec.Value)}
		h.DeadLetters = append(h.DeadLetters, letter)
	case topic == bus.Predictions && own && json.Valid(rec.Value):
		h.Prediction = rec.Value
	case topic == bus.Reasons && own && json.Valid(rec.Value):
		h.Reasons = rec.Value
	}
}

// withdrawn removes the content of an earlier record with the same key.
func (h *HeldTarget) withdrawn(topic bus.Topic, rec ingest.Record) {
	own := lethe.TransactionID(rec.Key) == h.ID
	switch {
	case topic == bus.DeadLetters:
		var stay []graphs.HeldRecord
		for _, letter := range h.DeadLetters {
			if letter.Key != string(rec.Key) {
				stay = append(stay, letter)
			}
		}
		h.DeadLetters = append([]graphs.HeldRecord{}, stay...)
	case topic == bus.Predictions && own:
		h.Prediction = nil
	case topic == bus.Reasons && own:
		h.Reasons = nil
	case topic == bus.Reasons:
		delete(h.ReasonsNaming, lethe.TransactionID(rec.Key))
	}
}
