package canonical

import (
	"fmt"

	"lethe"
)

const (
	snapshotMagic   = "LSNP"
	snapshotVersion = 1
)

// EncodeSnapshot returns the snapshot's canonical bytes. Its revision is not
// part of them.
func EncodeSnapshot(s *lethe.Snapshot) []byte {
	return writeSnapshot(NewWriter(snapshotMagic, snapshotVersion), s).Seal()
}

// SealSnapshot returns the results of EncodeSnapshot and of DigestOf on it.
func SealSnapshot(s *lethe.Snapshot) ([]byte, lethe.Digest) {
	return writeSnapshot(NewWriter(snapshotMagic, snapshotVersion), s).SealDigest()
}

// DigestSnapshot returns the digest of the snapshot's canonical bytes.
func DigestSnapshot(s *lethe.Snapshot) lethe.Digest {
	return writeSnapshot(NewDigester(snapshotMagic, snapshotVersion), s).Digest()
}

func writeSnapshot(w *Writer, s *lethe.Snapshot) *Writer {
	const nodeBytes, featureBytes, paymentBytes = len(lethe.Pseudonym{}) + 5, 4, 8
	names := 0
	for i := range s.Nodes {
		names += len(s.Nodes[i].ID)
	}
	w.Grow(32 + nodeBytes*len(s.Nodes) + names + featureBytes*len(s.Features) + paymentBytes*len(s.Payments))
	w.Uint64(uint64(s.Timestep))
	w.Uint32(uint32(s.FeatureCount))
	w.Count(len(s.Nodes))
	for i := range s.Nodes {
		w.Bytes(s.Nodes[i].Pseudonym[:])
		w.String(string(s.Nodes[i].ID))
		w.Uint8(uint8(s.Nodes[i].Label))
	}
	w.Float32s(s.Features)
	w.Count(len(s.Payments))
	for _, p := range s.Payments {
		w.Uint32(p.Source)
		w.Uint32(p.Target)
	}
	return w
}

// DecodeSnapshot decodes canonical bytes and validates the snapshot. Its revision is 0, and the
// caller has to set it.
func DecodeSnapshot(message []byte) (*lethe.Snapshot, error) {
	r, err := NewReader(message, snapshotMagic, snapshotVersion)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	s := &lethe.Snapshot{Timestep: lethe.Timestep(r.Uint64()), FeatureCount: int(r.Uint32())}
	s.Nodes = make([]lethe.SnapshotNode, r.Count(len(lethe.Pseudonym{})+5))
	for i := range s.Nodes {
		r.Bytes(s.Nodes[i].Pseudonym[:])
		s.Nodes[i].ID = lethe.TransactionID(r.Text())
		s.Nodes[i].Label = lethe.Label(r.Uint8())
	}
	s.Features = r.Float32s(len(s.Nodes) * s.FeatureCount)
	s.Payments = make([]lethe.Arc, r.Count(8))
	for i := range s.Payments {
		s.Payments[i] = lethe.Arc{Source: r.Uint32(), Target: r.Uint32()}
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return s, nil
}
