package score

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// Prefixes of the store's keys. Timesteps and shards are big-endian so that
// they sort.
const (
	offsetPrefix     = "o/" // topic/partition -> next offset
	servedPrefix     = "e/" // shard -> checkpoint of the served ensemble
	candidatePrefix  = "m/" // timestep, shard -> checkpoint that arrived
	manifestPrefix   = "f/" // timestep -> revision, manifest
	snapshotPrefix   = "g/" // timestep -> canonical snapshot that waits to be scored
	linkPrefix       = "n/" // timestep -> link
	publishedPrefix  = "r/" // timestep -> probabilities published
	qualityPrefix    = "q/" // timestep -> summary
	suppressedPrefix = "x/" // suppression hash
)

// storeFormat is the version of these keys and their values.
func storeFormat() swapstore.Format { return swapstore.Format{Kind: "score-state", Version: 1} }

func servedKey(shard lethe.ShardID) []byte {
	return binary.BigEndian.AppendUint32([]byte(servedPrefix), uint32(shard))
}

// candidate names a checkpoint that arrived.
type candidate struct {
	timestep lethe.Timestep
	shard    lethe.ShardID
}

func (c candidate) key() []byte {
	return binary.BigEndian.AppendUint32(timestepkey.New(candidatePrefix, c.timestep), uint32(c.shard))
}

func candidateOf(key []byte) (candidate, error) {
	t, shard, err := timestepkey.Cut(candidatePrefix, key)
	if err != nil {
		return candidate{}, err
	}
	if len(shard) != 4 {
		return candidate{}, fmt.Errorf("key of a candidate has %d bytes behind the timestep, want 4", len(shard))
	}
	return candidate{t, lethe.ShardID(binary.BigEndian.Uint32(shard))}, nil
}

func offsetKey(tp bus.TopicPartition) []byte {
	return append([]byte(offsetPrefix), tp.String()...)
}

func suppressedKey(d lethe.Digest) []byte { return append([]byte(suppressedPrefix), d[:]...) }

// link places a snapshot in the stream.
type link struct {
	revision lethe.Revision
	// previous is the closed timestep before it, or NoTimestep.
	previous lethe.Timestep
	// done is set once the snapshot was scored, or had no ensemble before it.
	done bool
}

func (l link) encode() []byte {
	return fmt.Appendf(nil, "%d %d %t", l.revision, l.previous, l.done)
}

func decodeLink(value []byte) (l link, err error) {
	_, err = fmt.Sscanf(string(value), "%d %d %t", &l.revision, &l.previous, &l.done)
	if err != nil {
		return link{}, fmt.Errorf("link %q: %w", value, err)
	}
	return l, nil
}

// withRevision puts a revision before a value.
func withRevision(r lethe.Revision, value []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(r)), value...)
}

func splitRevision(value []byte) (lethe.Revision, []byte, error) {
	if len(value) < 4 {
		return 0, nil, fmt.Errorf("value of %s bytes has no revision", strconv.Itoa(len(value)))
	}
	return lethe.Revision(binary.BigEndian.Uint32(value)), value[4:], nil
}
