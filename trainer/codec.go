package trainer

import (
	"fmt"

	"lethe"
	"lethe/canonical"
)

const (
	checkpointMagic   = "LCKP"
	checkpointVersion = 2
)

// EncodeCheckpoint returns the checkpoint's canonical bytes.
func EncodeCheckpoint(c *Checkpoint) []byte {
	w := canonical.NewWriter(checkpointMagic, checkpointVersion)
	w.Uint32(uint32(c.Shard))
	w.Uint64(uint64(c.Timestep))
	w.Bytes(c.Lineage[:])
	w.Bytes(c.Options[:])
	w.String(c.Kernels)
	w.String(c.Model)
	w.Uint32(uint32(c.FeatureCount))
	w.Uint32(uint32(c.Classes))
	w.Count(len(c.Widths))
	for _, width := range c.Widths {
		w.Uint32(uint32(width))
	}
	w.Uint8(flag(c.LinearSkip))
	w.Uint64(c.Steps)
	w.Uint64(c.Batches)
	for _, values := range [][]float32{c.Params, c.Buffers, c.FirstMoment, c.SecondMoment} {
		w.Count(len(values))
		w.Float32s(values)
	}
	w.Count(len(c.Aggregation))
	w.Bytes(c.Aggregation)
	return w.Seal()
}

// DecodeCheckpoint reads what EncodeCheckpoint wrote. The error wraps
// canonical.ErrCorrupt for bytes that are cut short, altered or contradict
// themselves, and canonical.ErrVersion for a format this program does not read.
func DecodeCheckpoint(message []byte) (*Checkpoint, error) {
	r, err := canonical.NewReader(message, checkpointMagic, checkpointVersion)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	c := &Checkpoint{Shard: lethe.ShardID(r.Uint32()), Timestep: lethe.Timestep(r.Uint64())}
	r.Bytes(c.Lineage[:])
	r.Bytes(c.Options[:])
	c.Kernels = r.String()
	c.Model = r.String()
	c.FeatureCount = int(r.Uint32())
	c.Classes = int(r.Uint32())
	c.Widths = make([]int, r.Count(4))
	for i := range c.Widths {
		c.Widths[i] = int(r.Uint32())
	}
	skip := r.Uint8()
	c.LinearSkip = skip == 1
	c.Steps, c.Batches = r.Uint64(), r.Uint64()
	for _, values := range []*[]float32{&c.Params, &c.Buffers, &c.FirstMoment, &c.SecondMoment} {
		*values = r.Float32s(r.Count(4))
	}
	c.Aggregation = make([]byte, r.Count(1))
	r.Bytes(c.Aggregation)
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if skip > 1 {
		return nil, fmt.Errorf("checkpoint: %w: skip flag is %d", canonical.ErrCorrupt, skip)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("checkpoint: %w: %w", canonical.ErrCorrupt, err)
	}
	if len(c.Aggregation) == 0 {
		c.Aggregation = nil
	}
	return c, nil
}
