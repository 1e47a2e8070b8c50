package snapshot

import (
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
)

// Kinds of keys in staging. Each is followed by the fields named here, all of
// fixed length but the last: timesteps and numbers are big-endian, so that keys
// of one kind ascend with them. Packages index and suppressed have kinds of their own.
const (
	kindSubject      = 'b'           // subject, timestep, pseudonyms: what carries it
	kindFeatureCount = 'c'           // (nothing)
	kindLetter       = 'f'           // number: a letter not confirmed yet
	kindGone         = 'g'           // timestep: the revision that says that it is gone
	kindMark         = 'k'           // the owner's key
	kindLabel        = 'l'           // timestep, pseudonym: a label that no graph has
	kindOffset       = 'o'           // partition, topic
	kindPayment      = 'p'           // timestep, source, target: a payment that is in no graph
	kindCandidate    = 'q'           // pseudonym, width: a transaction while the width is not known
	kindRow          = openrows.Kind // timestep, pseudonym: a transaction of an open timestep, or one that waits
	kindInfo         = 't'           // timestep
	kindControl      = 'u'           // timestep, partition: a control record, while the width is not known
	kindFormat       = 'v'           // (nothing)
	kindWatermark    = 'w'           // stream, partition
	kindCarries      = 'y'           // pseudonym, key of kind 'b': a subject of it, or of a payment of it
	kindRewriting    = 'x'           // timestep: its store is being rewritten; with a value: reopened
)

const timestepBytes = timestepkey.Bytes

func timestepKey(kind byte, t lethe.Timestep, about ...lethe.Pseudonym) []byte {
	return stored.AppendPseudonyms(timestepkey.New([]byte{kind}, t), about...)
}

// appendTimestepKey appends what timestepKey returns of one transaction.
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

func controlKey(t lethe.Timestep, partition int) []byte {
	return binary.BigEndian.AppendUint32(timestepKey(kindControl, t), uint32(partition))
}

// widthBytes end the key of a candidate.
const widthBytes = 4

func candidateKey(p lethe.Pseudonym, width int) []byte {
	return binary.BigEndian.AppendUint32(stored.Key(kindCandidate, p), uint32(width))
}

func offsetKey(p TopicPartition) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kindOffset}, uint32(p.Partition)), p.Topic...)
}

func watermarkKey(s Stream, partition int) []byte {
	return binary.BigEndian.AppendUint32([]byte{kindWatermark, byte(s)}, uint32(partition))
}

// stagingVersion is that of the keys and values of staging, which repeats it in a value of its own.
const stagingVersion = 4

// stagingFormat is what the keys and values of staging mean.
func stagingFormat() swapstore.Format {
	return swapstore.Format{Kind: "snapshot-staging", Version: stagingVersion}
}
