package canonical

import (
	"crypto/sha256"
	"fmt"
	"math"

	"lethe"
)

const (
	sliceMagic   = "LSLC"
	sliceVersion = 1
	unionMagic   = "LUNI"
	unionVersion = 1
)

// EncodeSlice returns the slice's canonical bytes. It panics for a union, see lethe.Slice.Parts: a
// stored union would retain data that its parts have forgotten.
func EncodeSlice(s *lethe.Slice) []byte {
	if s.Parts != nil {
		panic("canonical: a union of slices has no bytes of its own: it is never stored")
	}
	return writeSlice(NewWriter(sliceMagic, sliceVersion), s).Seal()
}

// DigestSlice returns the digest of the slice's canonical bytes, and of a union
// DigestUnion of its parts.
func DigestSlice(s *lethe.Slice) lethe.Digest {
	if s.Parts != nil {
		return DigestUnion(s.Parts)
	}
	return writeSlice(NewDigester(sliceMagic, sliceVersion), s).Digest()
}

// DigestUnion returns the digest of a union of slices, from their own digests in ascending order of
// shards. The slices themselves are not needed.
func DigestUnion(parts []lethe.Digest) lethe.Digest {
	w := NewDigester(unionMagic, unionVersion)
	w.Count(len(parts))
	for _, part := range parts {
		w.Bytes(part[:])
	}
	return w.Digest()
}

func writeSlice(w *Writer, s *lethe.Slice) *Writer {
	w.Uint64(uint64(s.Timestep))
	w.Uint64(uint64(s.Previous))
	w.Uint32(uint32(s.Shard))
	w.Uint32(uint32(s.FeatureCount))
	w.Count(len(s.Nodes))
	for i := range s.Nodes {
		w.Bytes(s.Nodes[i][:])
		w.Uint8(uint8(s.Labels[i]))
	}
	w.Float32s(s.Features)
	writeEdges(w, s.Edges)
	w.Count(len(s.Stubs))
	for _, st := range s.Stubs {
		w.Uint32(st.Owner)
		w.Uint32(math.Float32bits(st.Lambda))
	}
	return w
}

// DecodeSlice decodes canonical bytes and validates all positions in them.
func DecodeSlice(message []byte) (*lethe.Slice, error) {
	r, err := NewReader(message, sliceMagic, sliceVersion)
	if err != nil {
		return nil, fmt.Errorf("slice: %w", err)
	}
	s := &lethe.Slice{
		Timestep:     lethe.Timestep(r.Uint64()),
		Previous:     lethe.Timestep(r.Uint64()),
		Shard:        lethe.ShardID(r.Uint32()),
		FeatureCount: int(r.Uint32()),
	}
	n := r.Count(len(lethe.Pseudonym{}) + 1)
	s.Nodes = make([]lethe.Pseudonym, n)
	s.Labels = make([]lethe.Label, n)
	for i := range n {
		r.Bytes(s.Nodes[i][:])
		s.Labels[i] = lethe.Label(r.Uint8())
	}
	s.Features = r.Float32s(n * s.FeatureCount)
	s.Edges = readEdges(r)
	s.Stubs = make([]lethe.Stub, r.Count(8))
	for i := range s.Stubs {
		s.Stubs[i] = lethe.Stub{Owner: r.Uint32(), Lambda: math.Float32frombits(r.Uint32())}
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("slice: %w", err)
	}
	for i, e := range s.Edges {
		if e.A >= e.B || int(e.B) >= n {
			return nil, fmt.Errorf("slice: %w: edge %d joins %d and %d of %d nodes", ErrCorrupt, i, e.A, e.B, n)
		}
	}
	for i, st := range s.Stubs {
		if int(st.Owner) >= n {
			return nil, fmt.Errorf("slice: %w: stub %d belongs to node %d of %d", ErrCorrupt, i, st.Owner, n)
		}
	}
	for i, l := range s.Labels {
		if l >= lethe.NumLabels {
			return nil, fmt.Errorf("slice: %w: label %d of node %d", ErrCorrupt, l, i)
		}
	}
	return s, nil
}

// DigestOf returns the SHA-256 of canonical bytes.
func DigestOf(message []byte) lethe.Digest { return sha256.Sum256(message) }

func writeEdges(w *Writer, edges []lethe.Edge) {
	w.Count(len(edges))
	for _, e := range edges {
		w.Uint32(e.A)
		w.Uint32(e.B)
	}
}

func readEdges(r *Reader) []lethe.Edge {
	edges := make([]lethe.Edge, r.Count(8))
	for i := range edges {
		edges[i] = lethe.Edge{A: r.Uint32(), B: r.Uint32()}
	}
	return edges
}
