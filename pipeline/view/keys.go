package view

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// The prefixes of keys.
const (
	predictionPrefix        = "p/" // <name>: a prediction
	scoreIndex              = "s/" // <^score><name>
	alertIndex              = "a/" // <^score><name>, of class illicit alone
	stepIndex               = "t/" // <timestep><^score><name>
	stepAlertIndex          = "u/" // <timestep><^score><name>, of class illicit alone
	countPrefix             = "c/" // <timestep>: how many predictions there are
	reasonsPrefix           = "r/" // <name>: a record of reasons
	graphPrefix             = "g/" // <timestep>: a graph, in numbers
	nodePrefix              = "n/" // <name>: a transaction in its graph
	memberPrefix            = "m/" // <timestep><name>: a member of a graph
	manifestPrefix          = "w/" // <timestep>: revision and manifest
	qualityPrefix           = "q/" // <timestep>: how good predictions were
	unmeasuredPrefix        = "j/" // <timestep>: how good predictions were is to be measured
	tallyPrefix             = "v/" // <timestep>: labelled predictions by probability
	shardPrefix             = "z/" // <timestep><shard>: a slice, in numbers
	statusPrefix            = "e/" // <key of a status>
	digestPrefix            = "y/" // <digest of a request>: the key of its status
	letterPrefix            = "d/" // <topic>\x00<partition><offset>: a dead letter, without content
	letterReasonPrefix      = "f/" // <reason>\x00<topic>\x00<partition><offset>
	letterNamePrefix        = "h/" // <partition of dlq.v1><hash of its key>: <reason>\x00<topic>\x00<partition><offset>
	letterMarkPrefix        = "i/" // <name of a mark>: when a record was sent again; under a name as above is \x00<mark>
	receiptPrefix           = "k/" // <request id>: a signed receipt
	logPrefix               = "l/" // <16 digits>: a leaf; checkpoint
	learntPrefix            = "b/" // <timestep>: when the log got the newest model that learnt from it
	suppressedPrefix        = "x/" // <hash of a target>: how far its erasure is
	offsetPrefix            = "o/" // <topic>/<partition>
	scoreBytes              = 8
	nameBytes               = len(lethe.Digest{})
	rankBytes               = scoreBytes + nameBytes
	purposeOfNames          = "view-name"
	suppressed         byte = 0
	purged             byte = 1
)

// name identifies a transaction in keys.
type name = lethe.Digest

// nameOf derives a name from the hash in commands.
func nameOf(secret lethe.Secret, suppression lethe.Digest) name {
	return secret.Hash(purposeOfNames, suppression[:])
}

// nameOfID derives a name from an id.
func nameOfID(secret lethe.Secret, id lethe.TransactionID) name { return newNamer(secret).ofID(id) }

// namer derives many names faster, for one goroutine.
type namer struct {
	suppressor lethe.Suppressor
	names      lethe.Hasher
}

func newNamer(secret lethe.Secret) namer {
	return namer{secret.Suppressor(), secret.Hasher(purposeOfNames)}
}

func (n namer) ofID(id lethe.TransactionID) name {
	suppression := n.suppressor.Suppression(id)
	return n.names.Hash(suppression[:])
}

func keyOf(prefix string, n name) []byte { return append([]byte(prefix), n[:]...) }

func keysOf(prefix string, names []name) [][]byte {
	keys := make([][]byte, len(names))
	for i, n := range names {
		keys[i] = keyOf(prefix, n)
	}
	return keys
}

// nameIn reads the name at the end of a key.
func nameIn(key []byte) (name, error) {
	if len(key) < nameBytes {
		return name{}, fmt.Errorf("%w: a key of %d bytes has no name", swapstore.ErrCorrupt, len(key))
	}
	return name(key[len(key)-nameBytes:]), nil
}

// appendRank makes keys sort by descending probability, whose bits are ordered as it is not negative.
func appendRank(key []byte, probability float64, n name) []byte {
	key = binary.BigEndian.AppendUint64(key, ^math.Float64bits(probability))
	return append(key, n[:]...)
}

// rankKeys are a prediction's index keys.
func rankKeys(n name, t lethe.Timestep, probability float64, alert bool) [][]byte {
	keys := [][]byte{
		appendRank([]byte(scoreIndex), probability, n),
		appendRank(timestepkey.New(stepIndex, t), probability, n),
	}
	if alert {
		keys = append(keys, appendRank([]byte(alertIndex), probability, n),
			appendRank(timestepkey.New(stepAlertIndex, t), probability, n))
	}
	return keys
}

func leafKey(index int64) []byte { return fmt.Appendf(nil, "%s%016d", logPrefix, index) }

func memberKey(t lethe.Timestep, n name) []byte {
	return append(timestepkey.New(memberPrefix, t), n[:]...)
}

func offsetKey(tp bus.TopicPartition) []byte { return []byte(offsetPrefix + tp.String()) }

func setOrDelete(w swapstore.Writer, key, value []byte, gone bool) {
	if gone {
		w.Delete(key)
		return
	}
	w.Set(key, value)
}

func setJSON(w swapstore.Writer, key []byte, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Set(key, value)
	return nil
}

// getJSON reads a key's value into v, if there is one.
func getJSON(store swapstore.Reader, key []byte, v any) (found bool, err error) {
	value, found, err := store.Get(key)
	if err != nil || !found {
		return false, err
	}
	if err := json.Unmarshal(value, v); err != nil {
		return false, fmt.Errorf("%w: a value under %q", swapstore.ErrCorrupt, key)
	}
	return true, nil
}

// offsetOf returns a partition's position.
func offsetOf(store swapstore.Reader, tp bus.TopicPartition) (int64, error) {
	value, found, err := store.Get(offsetKey(tp))
	if err != nil || !found {
		return 0, err
	}
	if len(value) != scoreBytes {
		return 0, fmt.Errorf("%w: position of %s", swapstore.ErrCorrupt, tp)
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}
