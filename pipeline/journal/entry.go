package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"lethe"
	"lethe/ingest"
)

const format = "lethe-journal/1"

// ErrMalformed is returned for what is no entry.
var ErrMalformed = errors.New("no entry of the journal")

// Entry is one decision of the leader of a role. It holds keyed hashes and digests at most: nothing in the journal is
// ever erased.
type Entry struct {
	Role string
	// Epoch is the leader's; 0 is that of a process which shares the role with nobody.
	Epoch int64
	// Number counts the entries of the epoch: one that is written again, as whoever has read it can, counts once.
	Number int64
	// Instance is the identity of the leader's data directory.
	Instance string
	Decision Decision
}

// Decision is what an entry says: an EpochBegan, a FeaturesDecided or a Served.
type Decision interface{ kind() string }

// EpochBegan is the beginning of an epoch. Entries of the role under a smaller one do not count from there on.
type EpochBegan struct {
	// Ends is where the topics of lethe's own ended then, by <topic>/<partition>: what leaders before wrote there from
	// that offset on is stale.
	Ends map[string]int64 `json:"ends"`
}

func (EpochBegan) kind() string { return "epoch_began" }

// FeaturesDecided is the number of features of the stream.
type FeaturesDecided struct {
	Count int `json:"count"`
	// Taken is the position in each partition of transactions at which that was decided.
	Taken map[int]int64 `json:"taken,omitempty"`
	// Refused says that the dead letters of transactions with another number are published.
	Refused bool `json:"refused,omitempty"`
}

func (FeaturesDecided) kind() string { return "features_decided" }

// stored is an entry as it stands in the topic.
type stored struct {
	Format   string          `json:"format"`
	Role     string          `json:"role"`
	Epoch    int64           `json:"epoch"`
	Number   int64           `json:"number"`
	Instance string          `json:"instance,omitempty"`
	Kind     string          `json:"kind"`
	Decision json.RawMessage `json:"decision"`
}

// Encode returns the entry as it stands in the topic.
func (e Entry) Encode() ([]byte, error) {
	decision, err := json.Marshal(e.Decision)
	if err != nil {
		return nil, fmt.Errorf("entry of role %s: %w", e.Role, err)
	}
	return json.Marshal(stored{format, e.Role, e.Epoch, e.Number, e.Instance, e.Decision.kind(), decision})
}

// Record returns the entry as a record, under a key that no other one has: the journal is not compacted, and would lose
// nothing if it were.
func (e Entry) Record() (ingest.Outgoing, error) {
	value, err := e.Encode()
	return ingest.Outgoing{Key: fmt.Appendf(nil, "%s/%d/%s/%d", e.Role, e.Epoch, e.Instance, e.Number), Value: value}, err
}

// Decode reads what Encode wrote. The error is ErrMalformed.
func Decode(value []byte) (Entry, error) {
	var s stored
	if err := strictly(value, &s); err != nil {
		return Entry{}, err
	}
	e := Entry{Role: s.Role, Epoch: s.Epoch, Number: s.Number, Instance: s.Instance}
	var err error
	switch {
	case s.Format != format:
		err = fmt.Errorf("%w: format %.40q, want %q", ErrMalformed, s.Format, format)
	case s.Role == "" || s.Epoch < 0:
		err = fmt.Errorf("%w: role %.40q, epoch %d", ErrMalformed, s.Role, s.Epoch)
	case s.Kind == EpochBegan{}.kind():
		e.Decision, err = decision[EpochBegan](s.Decision)
		if err == nil && s.Epoch == 0 {
			err = fmt.Errorf("%w: epochs begin at 1", ErrMalformed)
		}
	case s.Kind == FeaturesDecided{}.kind():
		var features FeaturesDecided
		features, err = decision[FeaturesDecided](s.Decision)
		if err == nil && features.Count < 1 {
			err = fmt.Errorf("%w: %d features", ErrMalformed, features.Count)
		}
		e.Decision = features
	case s.Kind == Served{}.kind():
		var served Served
		served, err = decision[Served](s.Decision)
		if err == nil && !served.valid() {
			err = fmt.Errorf("%w: timesteps before %d", ErrMalformed, lethe.NoTimestep)
		}
		e.Decision = served
	default:
		err = fmt.Errorf("%w: kind %.40q", ErrMalformed, s.Kind)
	}
	if err != nil {
		return Entry{}, err
	}
	return e, nil
}

func decision[D Decision](value []byte) (d D, err error) { return d, strictly(value, &d) }

// strictly reads one JSON value and refuses fields that it does not know.
func strictly(value []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.More() {
		err = errors.New("something follows it")
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}
