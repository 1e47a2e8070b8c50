package journal

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"lethe/ingest"
)

const format = "lethe-journal/1"

// ErrMalformed is returned for a value that is not an entry. Nobody appends one, so if a record of the journal carries
// the deployment's code, another version of lethe has written it.
var ErrMalformed = errors.New("no entry of the journal")

// Entry is one decision of the leader of a role. It holds keyed hashes and digests at most: nothing in the journal is
// ever erased.
type Entry struct {
	Role string
	// Epoch is the leader's; 0 if no other process has the role.
	Epoch int64
	// Number counts the entries of the epoch. A copy of an entry, which any reader can write, is not valid.
	Number int64
	// Instance is the identity of the leader's data directory.
	Instance string
	Decision Decision
}

// Decision is the content of an entry: an EpochBegan, or one of served.go and graphs.go.
type Decision interface{ kind() string }

// check returns an error for values that no leader writes.
func check(d Decision) error {
	if d, is := d.(interface{ valid() error }); is {
		return d.valid()
	}
	return nil
}

// EpochBegan begins an epoch. Later entries of the role with a smaller epoch are not valid.
type EpochBegan struct {
	// Ends are the end offsets of lethe's own topics at that time, by <topic>/<partition>: records of previous leaders
	// from there on are stale.
	Ends map[string]int64 `json:"ends"`
}

func (EpochBegan) kind() string { return "epoch_began" }

// Consumed is a batch of a partition that graphs or score has consumed: the records behind the last such entry of the
// partition.
type Consumed struct {
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Next      int64  `json:"next"`
	// Bounded means that records that begin too many timesteps are rejected.
	Bounded bool `json:"bounded,omitempty"`
	// Dropped are the offsets of records whose remaining content names something erased.
	Dropped []int64 `json:"dropped,omitempty"`
}

func (Consumed) kind() string { return "consumed" }

func (d Consumed) valid() error {
	if d.Topic == "" || d.Partition < 0 || d.Next < 0 {
		return fmt.Errorf("partition %d of topic %.40q up to %d", d.Partition, d.Topic, d.Next)
	}
	return nil
}

// IsKeptByRekeying reports whether a decision is valid under another secret too: it names no pseudonyms and no offsets,
// which another secret or topic does not have.
func IsKeptByRekeying(d Decision) bool {
	switch d.(type) {
	case EpochBegan, FeaturesDecided, Served:
		return true
	}
	return false
}

// Place orders the valid entries of a role.
type Place struct{ Epoch, Number int64 }

// Place returns the place of the entry.
func (e Entry) Place() Place { return Place{e.Epoch, e.Number} }

// Behind reports whether a place comes after another.
func (p Place) Behind(other Place) bool {
	return cmp.Or(cmp.Compare(p.Epoch, other.Epoch), cmp.Compare(p.Number, other.Number)) > 0
}

// placeBytes is the length of an encoded place.
const placeBytes = 16

// AppendTo appends the place as it is stored.
func (p Place) AppendTo(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, uint64(p.Epoch)), uint64(p.Number))
}

// CutPlace decodes a place that AppendTo has encoded, and returns the remaining bytes. Of too few bytes the place is
// zero.
func CutPlace(value []byte) (p Place, rest []byte) {
	if len(value) < placeBytes {
		return p, nil
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(value[i:])) }
	return Place{at(0), at(placeBytes / 2)}, value[placeBytes:]
}

// stored is the JSON form of an entry.
type stored struct {
	Format   string          `json:"format"`
	Role     string          `json:"role"`
	Epoch    int64           `json:"epoch"`
	Number   int64           `json:"number"`
	Instance string          `json:"instance,omitempty"`
	Kind     string          `json:"kind"`
	Decision json.RawMessage `json:"decision"`
}

// Encode returns the entry as JSON.
func (e Entry) Encode() ([]byte, error) {
	kind := e.Decision.kind()
	if _, known := kinds()[kind]; !known {
		return nil, fmt.Errorf("%w: kind %q is not one of kinds", ErrMalformed, kind)
	}
	err := check(e.Decision)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrMalformed, kind, err)
	}
	decision, err := json.Marshal(e.Decision)
	if err != nil {
		return nil, fmt.Errorf("entry of role %s: %w", e.Role, err)
	}
	return json.Marshal(stored{format, e.Role, e.Epoch, e.Number, e.Instance, kind, decision})
}

// Record returns the entry as a record with a key of its own: if the journal were compacted, nothing would be lost.
func (e Entry) Record() (ingest.Outgoing, error) {
	value, err := e.Encode()
	return ingest.Outgoing{
		Key: fmt.Appendf(nil, "%s/%d/%s/%d", e.Role, e.Epoch, e.Instance, e.Number), Value: value, Pinned: true,
		Partition: ForAll,
	}, err
}

// Decode decodes an entry. The error is ErrMalformed.
func Decode(value []byte) (Entry, error) {
	var s stored
	if err := strictly(value, &s); err != nil {
		return Entry{}, err
	}
	e := Entry{Role: s.Role, Epoch: s.Epoch, Number: s.Number, Instance: s.Instance}
	decode, known := kinds()[s.Kind]
	switch {
	case s.Format != format:
		return Entry{}, fmt.Errorf("%w: format %.40q, want %q", ErrMalformed, s.Format, format)
	case s.Role == "" || s.Epoch < 0 || s.Epoch == 0 && s.Kind == EpochBegan{}.kind():
		return Entry{}, fmt.Errorf("%w: role %.40q, epoch %d", ErrMalformed, s.Role, s.Epoch)
	case !known:
		return Entry{}, fmt.Errorf("%w: kind %.40q", ErrMalformed, s.Kind)
	}
	var err error
	if e.Decision, err = decode(s.Decision); err != nil {
		return Entry{}, err
	}
	if err := check(e.Decision); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return e, nil
}

// kinds are the decoders of decisions, by kind.
func kinds() map[string]func([]byte) (Decision, error) {
	return map[string]func([]byte) (Decision, error){
		EpochBegan{}.kind():       decision[EpochBegan],
		Served{}.kind():           decision[Served],
		Explained{}.kind():        decision[Explained],
		FeaturesDecided{}.kind():  decision[FeaturesDecided],
		Consumed{}.kind():         decision[Consumed],
		TimestepsChanged{}.kind(): decision[TimestepsChanged],
		Suppressed{}.kind():       decision[Suppressed],
		Lifted{}.kind():           decision[Lifted],
		Rewritten{}.kind():        decision[Rewritten],
	}
}

func decision[D Decision](value []byte) (Decision, error) {
	var d D
	err := strictly(value, &d)
	return d, err
}

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
