package deadletters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
)

// ErrRejectedAgain means that the record would be rejected again.
var ErrRejectedAgain = errors.New("would be rejected again")

// Rules are a deployment's rules for records. The number of features in the limits may be ingest.AnyFeatureCount.
type Rules struct {
	Limits ingest.Limits
	// First is ingest.first_timestep, Jump ingest.max_timestep_jump.
	First lethe.Timestep
	Jump  int
}

// Part separates dead letters whose records may be accepted now. It decodes as intake does, with the journal's
// number of features if the configuration has none, and compares timesteps with those in the partition.
func (r Rules) Part(ctx context.Context, topics Bus, letters []Letter) (may []Letter, again []Refused, err error) {
	if r.Limits.FeatureCount == ingest.AnyFeatureCount {
		if r.Limits.FeatureCount, err = featureCount(ctx, topics); err != nil {
			return nil, nil, err
		}
	}
	far := make(map[bus.TopicPartition][]jump)
	for _, l := range letters {
		event, why := r.decode(l)
		at, from, jumped := jumpOf(l, event)
		switch {
		case why != nil:
			again = append(again, Refused{l, why})
		case jumped:
			place := bus.TopicPartition{Topic: l.Topic, Partition: l.Record.Partition}
			far[place] = append(far[place], jump{l, at, from})
		default:
			may = append(may, l)
		}
	}
	near, tooFar, err := r.partJumps(ctx, topics, far)
	return slices.Concat(may, near), append(again, tooFar...), err
}

// decode returns a letter's event, or why it would be rejected. Sendable handles records that cannot be sent.
func (r Rules) decode(l Letter) (event ingest.Event, why error) {
	if _, err := l.Again(l.Record.Time); err != nil {
		return nil, nil //nolint:nilerr,nilnil // Sendable names the error
	}
	decode := map[bus.Topic]func(ingest.Record, ingest.Limits) (ingest.Event, error){
		bus.Transactions: ingest.DecodeTransactions, bus.Labels: ingest.DecodeLabels, bus.Erasures: ingest.DecodeErasure,
	}[l.Topic]
	event, err := decode(l.Record, r.Limits)
	var refusal *ingest.Refusal
	switch reason := l.Refusal.Reason; {
	case errors.As(err, &refusal):
		return nil, fmt.Errorf("%w: %s: %s", ErrRejectedAgain, refusal.Reason, refusal.Detail)
	case slices.Contains([]ingest.Reason{ingest.BadSignature, ingest.SignatureExpired, ingest.SamePerson}, reason):
		return nil, fmt.Errorf("%w: %s: have it signed and sent anew", ErrRejectedAgain, reason)
	}
	return event, nil
}

// jump is a letter refused for a jump of the timestep.
type jump struct {
	letter Letter
	// at is the record's timestep, from the partition's at that time.
	at, from lethe.Timestep
}

// jumpOf reads both from a letter.
func jumpOf(l Letter, event ingest.Event) (at, from lethe.Timestep, is bool) {
	if l.Refusal.Reason != ingest.TimestepJump || event == nil {
		return 0, 0, false
	}
	_, err := fmt.Sscanf(l.Refusal.Detail, "timestep %d, the partition is at %d", &at, &from)
	return at, from, err == nil
}

// partJumps separates letters by whether their partition can have come close enough since, in steps within the
// limit.
func (r Rules) partJumps(
	ctx context.Context, topics Bus, far map[bus.TopicPartition][]jump,
) (near []Letter, tooFar []Refused, err error) {
	for place, letters := range far {
		steps := make([]lethe.Timestep, 0, len(letters))
		for _, j := range letters {
			steps = append(steps, j.at)
		}
		err := topics.ReadAll(ctx, place.Topic, func(rec ingest.Record) error {
			if rec.Partition == place.Partition {
				steps = append(steps, timestepsOf(rec)...)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		slices.Sort(steps)
		for _, j := range letters {
			reached := max(j.from, r.First)
			for _, t := range steps {
				if t > reached && t-reached <= lethe.Timestep(r.Jump) {
					reached = t
				}
			}
			if j.at <= reached {
				near = append(near, j.letter)
				continue
			}
			tooFar = append(tooFar, Refused{j.letter, fmt.Errorf("%w: %s: timestep %d, the partition has come to %d and "+
				"takes up to %d (ingest.max_timestep_jump is %d)", ErrRejectedAgain, ingest.TimestepJump, j.at, reached,
				reached+lethe.Timestep(r.Jump), r.Jump)})
		}
	}
	return near, sorted(tooFar), nil
}

func sorted(letters []Refused) []Refused {
	slices.SortFunc(letters, func(a, b Refused) int {
		return cmp.Or(cmp.Compare(a.Record.Topic, b.Record.Topic), cmp.Compare(a.Record.Partition, b.Record.Partition),
			cmp.Compare(a.Record.Offset, b.Record.Offset))
	})
	return letters
}

// timestepsOf is the timestep of a decodable record.
func timestepsOf(rec ingest.Record) []lethe.Timestep {
	limits := ingest.DefaultLimits()
	event, err := ingest.DecodeTransactions(rec, limits)
	if err != nil {
		event, err = ingest.DecodeLabels(rec, limits)
	}
	if err != nil {
		return nil
	}
	switch e := event.(type) {
	case ingest.Transaction:
		return []lethe.Timestep{e.Timestep}
	case ingest.Payment:
		return []lethe.Timestep{e.Timestep}
	case ingest.Close:
		return []lethe.Timestep{e.Timestep}
	case ingest.Label:
		return []lethe.Timestep{e.Timestep}
	case ingest.Settle:
		return []lethe.Timestep{e.Timestep}
	default:
		return nil
	}
}

// featureCount returns the number of features in the journal, or ingest.AnyFeatureCount.
func featureCount(ctx context.Context, topics Bus) (count int, err error) {
	var reader journal.Reader
	err = topics.ReadAll(ctx, bus.Journal, func(rec ingest.Record) error {
		e, counts, err := reader.Read(rec)
		if features, is := e.Decision.(journal.FeaturesDecided); is && counts {
			count = features.Count
		}
		return err
	})
	return count, err
}
