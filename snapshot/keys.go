package snapshot

import (
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/snapshot/closed"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
)

// Kinds of keys in staging. Each kind is followed by the fields named here, all of fixed length
// except the last. Timesteps and numbers are big-endian, so keys of one kind sort by them.
// Packages index, subjects and suppressed define more kinds.
const (
	kindFeatureCount = 'c'           // (nothing)
	kindLetter       = 'f'           // number: an unconfirmed letter
	kindGone         = 'g'           // timestep: the revision under which it was deleted
	kindMark         = 'k'           // the owner's key
	kindLabel        = 'l'           // timestep, pseudonym: a label not yet in a graph
	kindOffset       = 'o'           // partition, topic
	kindPayment      = 'p'           // timestep, source, target: a payment not yet in a graph
	kindRow          = openrows.Kind // timestep, pseudonym: a transaction of an open timestep, or a late one
	kindInfo         = 't'           // timestep
	kindFormat       = 'v'           // (nothing)
	kindWatermark    = 'w'           // stream, partition
)

const timestepBytes = timestepkey.Bytes

func timestepKey(kind byte, t lethe.Timestep, about ...lethe.Pseudonym) []byte {
	return stored.AppendPseudonyms(timestepkey.New([]byte{kind}, t), about...)
}

// appendTimestepKey appends the key that timestepKey returns for one transaction.
func appendTimestepKey(dst []byte, kind byte, t lethe.Timestep, about lethe.Pseudonym) []byte {
	return append(binary.BigEndian.AppendUint64(append(dst, kind), uint64(t)), about[:]...)
}

func timestepOf(key []byte) (lethe.Timestep, error) {
	t, _, err := timestepkey.Cut(string(key[:1]), key)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return t, nil
}

func letterKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kindLetter}, number)
}

func offsetKey(p TopicPartition) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kindOffset}, uint32(p.Partition)), p.Topic...)
}

func watermarkKey(s Stream, partition int) []byte {
	return binary.BigEndian.AppendUint32([]byte{kindWatermark, byte(s)}, uint32(partition))
}

// stagingVersion is the version of staging's keys and values; staging also stores it.
const stagingVersion = 1

// stagingFormat identifies the keys and values of staging.
func stagingFormat() swapstore.Format {
	return swapstore.Format{Kind: "snapshot-staging", Version: stagingVersion}
}

func (i Info) encode() []byte {
	dst := append([]byte{}, byte(i.State))
	dst = binary.BigEndian.AppendUint32(dst, uint32(i.Revision))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Nodes))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Payments))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Labels))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Previous))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Waiting))
	dst = binary.BigEndian.AppendUint32(dst, uint32(i.Reopened))
	dst = binary.BigEndian.AppendUint32(dst, uint32(i.Files.Graph))
	return binary.BigEndian.AppendUint32(dst, uint32(i.Files.Assigned))
}

func decodeInfo(t lethe.Timestep, value []byte) (Info, error) {
	c := stored.Over(value)
	i := Info{
		Timestep: t,
		State:    lethe.State(c.Uint8()),
		Revision: lethe.Revision(c.Uint32()),
		Nodes:    int(c.Uint64()),
		Payments: int(c.Uint64()),
		Labels:   int(c.Uint64()),
		Previous: lethe.Timestep(c.Uint64()),
		Waiting:  int(c.Uint64()),
		Reopened: lethe.Revision(c.Uint32()),
		Files:    closed.Files{Graph: lethe.Revision(c.Uint32()), Assigned: lethe.Revision(c.Uint32())},
	}
	return i, c.Done("timestep")
}
