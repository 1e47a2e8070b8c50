package wire

import (
	"bytes"
	"fmt"

	"lethe"
	"lethe/canonical"
)

const (
	saidMagic = "LSAI"
	// saidVersion is 2 since labels are said. Answers of version 1 are passed over: what they say is asked again.
	saidVersion = 2
)

// Said is what models say of the labelled nodes of a slice that they have not learnt from, for the
// process that learns the meta-model. It names nobody: its rows are in the order of the slice.
type Said struct {
	// Question has the digest of the slice, and as its Ensemble the lineage of the meta-model, which has
	// those of all models; its Timestep is the one through which they are.
	Question
	// Shard and Of are the slice's.
	Shard lethe.ShardID
	Of    lethe.Timestep
	// Illicit are the labels of these nodes, so that whoever learns need not read the slice.
	Illicit []bool
	// Probabilities are those of illicit, model by model; see ensemble.Said.
	Probabilities []float32
}

// Key returns the key of the message.
func (s *Said) Key() Key { return Key{Kind: KindSaid, Shard: s.Shard, Timestep: s.Of} }

// IsSaid reports whether a record's key is that of such a message, or of a part of one.
func IsSaid(key []byte) bool { return bytes.HasPrefix(key, []byte(KindSaid+"/")) }

// Message returns the answer as a message of answers.v1.
func (s *Said) Message() Message {
	w := canonical.NewWriter(saidMagic, saidVersion)
	s.append(w)
	w.Uint32(uint32(s.Shard))
	w.Uint64(uint64(s.Of))
	w.Count(len(s.Illicit))
	for _, illicit := range s.Illicit {
		w.Flag(illicit)
	}
	w.Count(len(s.Probabilities))
	w.Float32s(s.Probabilities)
	payload, digest := w.SealDigest()
	return Message{Key: s.Key(), Revision: 1, Previous: lethe.NoTimestep, Payload: payload, Digest: digest}
}

// DecodeSaid reads the payload of a message of KindSaid.
func DecodeSaid(message []byte) (*Said, error) {
	r, err := canonical.NewReader(message, saidMagic, saidVersion)
	if err != nil {
		return nil, fmt.Errorf("what models say: %w", err)
	}
	s := &Said{Question: readQuestion(r), Shard: lethe.ShardID(r.Uint32()), Of: lethe.Timestep(r.Uint64())}
	s.Illicit = make([]bool, r.Count(1))
	for i := range s.Illicit {
		s.Illicit[i] = r.Flag()
	}
	s.Probabilities = r.Float32s(r.Count(4))
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("what models say: %w", err)
	}
	return s, nil
}
