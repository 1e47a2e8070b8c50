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

// Decision is what an entry says: an EpochBegan, or one of those of served.go and graphs.go.
type Decision interface {
	kind() string
	// valid reports what is wrong with it.
	valid() error
}

// EpochBegan is the beginning of an epoch. Entries of the role under a smaller one do not count from there on.
type EpochBegan struct {
	// Ends is where the topics of lethe's own ended then, by <topic>/<partition>: what leaders before wrote there from
	// that offset on is stale.
	Ends map[string]int64 `json:"ends"`
}

func (EpochBegan) kind() string { return "epoch_began" }

func (EpochBegan) valid() error { return nil }

// Place is where an entry stands among those of its role that count: they ascend.
type Place struct{ Epoch, Number int64 }

// Place returns where the entry stands.
func (e Entry) Place() Place { return Place{e.Epoch, e.Number} }

// Behind reports whether a place comes after another one.
func (p Place) Behind(other Place) bool {
	return cmp.Or(cmp.Compare(p.Epoch, other.Epoch), cmp.Compare(p.Number, other.Number)) > 0
}

// placeBytes is the length of an encoded place.
const placeBytes = 16

// AppendTo appends the place as stores keep it.
func (p Place) AppendTo(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, uint64(p.Epoch)), uint64(p.Number))
}

// CutPlace takes a place off the front of what AppendTo has written. Of fewer bytes the place is zero.
func CutPlace(value []byte) (p Place, rest []byte) {
	if len(value) < placeBytes {
		return p, nil
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(value[i:])) }
	return Place{at(0), at(placeBytes / 2)}, value[placeBytes:]
}

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
	return ingest.Outgoing{
		Key: fmt.Appendf(nil, "%s/%d/%s/%d", e.Role, e.Epoch, e.Instance, e.Number), Value: value, Pinned: true,
		Partition: ForAll,
	}, err
}

// Decode reads what Encode wrote. The error is ErrMalformed.
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
	if err := e.Decision.valid(); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return e, nil
}

// kinds are how the decisions are decoded, by kind.
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
