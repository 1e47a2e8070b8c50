package challenge

import (
	"fmt"

	"lethe"
	"lethe/canonical"
)

const (
	bundleMagic   = "LAUB"
	bundleVersion = 1
	// leastBytes is less than the size of any leaf, slice or model. It bounds the number of items
	// for which memory is allocated.
	leastBytes = 32
)

// Bundle is a deployment's answer to a challenge.
type Bundle struct {
	// Challenge is the ID of the challenge that it answers.
	Challenge lethe.Digest
	// Checkpoint is the signed checkpoint of the log.
	Checkpoint string
	// Leaves are all leaves of the log at the checkpoint, in order.
	Leaves [][]byte
	// Setup is the configuration that the models are trained with (ensemble.Setup).
	Setup []byte
	// Openings are those of every request that was carried out.
	Openings []Opening
	// Slices and Models are in the order in which the steps of the challenge need them; the check
	// derives which ones they must be.
	Slices, Models [][]byte
}

// Encode returns the bundle's canonical bytes.
func (b *Bundle) Encode() []byte {
	w := canonical.NewWriter(bundleMagic, bundleVersion)
	w.Bytes(b.Challenge[:])
	w.String(b.Checkpoint)
	writeList(w, b.Leaves)
	w.String(string(b.Setup))
	w.Count(len(b.Openings))
	for _, o := range b.Openings {
		w.Bytes(o.Request[:])
		w.Count(len(o.Salts))
		for _, salt := range o.Salts {
			w.Bytes(salt[:])
		}
	}
	writeList(w, b.Slices)
	writeList(w, b.Models)
	return w.Seal()
}

func writeList(w *canonical.Writer, list [][]byte) {
	w.Count(len(list))
	for _, one := range list {
		w.Count(len(one))
		w.Bytes(one)
	}
}

// DecodeBundle decodes a bundle. The error wraps canonical.ErrCorrupt for bytes that are truncated or altered, and
// canonical.ErrVersion for a format that this program does not support. The result shares memory with data.
func DecodeBundle(data []byte) (*Bundle, error) {
	r, err := canonical.NewReader(data, bundleMagic, bundleVersion)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	b := &Bundle{}
	r.Bytes(b.Challenge[:])
	b.Checkpoint = r.Text()
	b.Leaves = readList(r)
	b.Setup = r.Take(r.Count(1))
	b.Openings = make([]Opening, r.Count(len(lethe.Digest{})+4))
	for i := range b.Openings {
		o := &b.Openings[i]
		r.Bytes(o.Request[:])
		o.Salts = make([]lethe.Digest, r.Count(len(lethe.Digest{})))
		for j := range o.Salts {
			r.Bytes(o.Salts[j][:])
		}
	}
	b.Slices, b.Models = readList(r), readList(r)
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	return b, nil
}

func readList(r *canonical.Reader) [][]byte {
	out := make([][]byte, r.Count(4+leastBytes))
	for i := range out {
		out[i] = r.Take(r.Count(1))
	}
	return out
}
