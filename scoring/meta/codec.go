package meta

import (
	"fmt"
	"math"

	"lethe"
	"lethe/canonical"
	"lethe/scoring/calibrate"
	"lethe/scoring/stack"
)

const (
	modelMagic   = "LMET"
	modelVersion = 1
)

// Encode returns the model's canonical bytes.
func (m *Model) Encode() []byte {
	w := canonical.NewWriter(modelMagic, modelVersion)
	w.Uint64(uint64(m.Timestep))
	w.Bytes(m.Lineage[:])
	w.Uint32(uint32(m.Rows))
	w.Uint32(uint32(m.Illicit))
	w.Uint64(math.Float64bits(m.Threshold))
	for _, part := range [][]byte{m.Combination.Encode(), m.Calibration.Encode()} {
		w.Count(len(part))
		w.Bytes(part)
	}
	return w.Seal()
}

// Decode decodes a meta-model. The error wraps canonical.ErrCorrupt for bytes that are truncated, altered or not a
// meta-model, and canonical.ErrVersion for a format that this program does not support.
func Decode(message []byte) (*Model, error) {
	r, err := canonical.NewReader(message, modelMagic, modelVersion)
	if err != nil {
		return nil, fmt.Errorf("meta-model: %w", err)
	}
	m := &Model{Timestep: lethe.Timestep(r.Uint64())}
	r.Bytes(m.Lineage[:])
	m.Rows, m.Illicit = int(r.Uint32()), int(r.Uint32())
	m.Threshold = math.Float64frombits(r.Uint64())
	combination := make([]byte, r.Count(1))
	r.Bytes(combination)
	calibration := make([]byte, r.Count(1))
	r.Bytes(calibration)
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("meta-model: %w", err)
	}
	if !(m.Threshold >= 0 && m.Threshold <= 1) || m.Illicit > m.Rows {
		return nil, fmt.Errorf("meta-model: %w: threshold %v, %d illicit of %d rows",
			canonical.ErrCorrupt, m.Threshold, m.Illicit, m.Rows)
	}
	if m.Combination, err = stack.Decode(combination); err != nil {
		return nil, fmt.Errorf("meta-model: %w", err)
	}
	if m.Calibration, err = calibrate.Decode(calibration); err != nil {
		return nil, fmt.Errorf("meta-model: %w", err)
	}
	return m, nil
}
