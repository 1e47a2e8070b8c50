package wire

import (
	"fmt"

	"lethe"
	"lethe/canonical"
)

const (
	manifestMagic   = "LMAN"
	manifestVersion = 1
)

// NodeLabel is the label of a transaction.
type NodeLabel struct {
	Pseudonym lethe.Pseudonym
	Label     lethe.Label
}

// Manifest lists the slices of a settled timestep, one per shard, by digest, and its labels. All manifests together
// identify the right checkpoint of a shard, because a checkpoint's lineage is the chain of these digests.
type Manifest struct {
	Timestep lethe.Timestep
	// Previous is the settled timestep before this one, or lethe.NoTimestep.
	Previous lethe.Timestep
	// Slices holds one digest per shard.
	Slices []lethe.Digest
	// Labels holds the labelled transactions, ascending by pseudonym.
	Labels []NodeLabel
}

// Encode returns the manifest's canonical bytes.
func (m *Manifest) Encode() []byte {
	w := canonical.NewWriter(manifestMagic, manifestVersion)
	w.Uint64(uint64(m.Timestep))
	w.Uint64(uint64(m.Previous))
	w.Count(len(m.Slices))
	for _, d := range m.Slices {
		w.Bytes(d[:])
	}
	w.Count(len(m.Labels))
	for _, l := range m.Labels {
		w.Bytes(l.Pseudonym[:])
		w.Uint8(uint8(l.Label))
	}
	return w.Seal()
}

// DecodeManifest decodes a manifest.
func DecodeManifest(message []byte) (*Manifest, error) {
	r, err := canonical.NewReader(message, manifestMagic, manifestVersion)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	m := &Manifest{Timestep: lethe.Timestep(r.Uint64()), Previous: lethe.Timestep(r.Uint64())}
	m.Slices = make([]lethe.Digest, r.Count(len(lethe.Digest{})))
	for i := range m.Slices {
		r.Bytes(m.Slices[i][:])
	}
	m.Labels = make([]NodeLabel, r.Count(len(lethe.Pseudonym{})+1))
	for i := range m.Labels {
		r.Bytes(m.Labels[i].Pseudonym[:])
		m.Labels[i].Label = lethe.Label(r.Uint8())
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("manifest: %w: %w", canonical.ErrCorrupt, err)
	}
	return m, nil
}

// check rejects content with a valid checksum that Encode never writes.
func (m *Manifest) check() error {
	for i, l := range m.Labels {
		if l.Label >= lethe.NumLabels {
			return fmt.Errorf("label %d is of kind %d, must be below %d", i, l.Label, lethe.NumLabels)
		}
		if i > 0 && m.Labels[i-1].Pseudonym.Compare(l.Pseudonym) >= 0 {
			return fmt.Errorf("labels %d and %d are not ascending", i-1, i)
		}
	}
	return nil
}

// LabelsOf lists the labelled transactions of a settled snapshot.
func LabelsOf(s *lethe.Snapshot) []NodeLabel {
	var out []NodeLabel
	for _, n := range s.Nodes {
		if n.Label != lethe.Unknown {
			out = append(out, NodeLabel{n.Pseudonym, n.Label})
		}
	}
	return out
}
