package trainer

import (
	"fmt"
	"math"

	"lethe"
	"lethe/canonical"
	"lethe/trainer/models"
)

const (
	checkpointMagic = "LCKP"
	// checkpointVersion is the version of the format.
	checkpointVersion = 1
)

// EncodeCheckpoint returns the checkpoint's canonical bytes.
func EncodeCheckpoint(c *Checkpoint) []byte {
	return writeCheckpoint(canonical.NewWriter(checkpointMagic, checkpointVersion), c).Seal()
}

// DigestCheckpoint returns the digest of the checkpoint's canonical bytes.
func DigestCheckpoint(c *Checkpoint) lethe.Digest {
	return writeCheckpoint(canonical.NewDigester(checkpointMagic, checkpointVersion), c).Digest()
}

func writeCheckpoint(w *canonical.Writer, c *Checkpoint) *canonical.Writer {
	w.Uint32(uint32(c.Shard))
	w.Uint64(uint64(c.Timestep))
	w.Bytes(c.Lineage[:])
	w.Bytes(c.Options[:])
	w.String(c.Kernels)
	w.String(c.Model)
	if keepsBody(c.Model) {
		w.Count(len(c.Body))
		w.Bytes(c.Body)
	} else {
		c.write(w)
	}
	return w
}

func (n *Network) write(w *canonical.Writer) {
	writeArchitecture(w, n.Architecture)
	w.Uint64(n.Steps)
	w.Uint64(n.Batches)
	for _, values := range [][]float32{n.Params, n.Buffers, n.FirstMoment, n.SecondMoment} {
		w.Count(len(values))
		w.Float32s(values)
	}
}

func (n *Network) read(r *canonical.Reader) {
	n.Architecture = readArchitecture(r)
	n.Steps, n.Batches = r.Uint64(), r.Uint64()
	for _, values := range []*[]float32{&n.Params, &n.Buffers, &n.FirstMoment, &n.SecondMoment} {
		*values = r.Float32s(r.Count(4))
	}
}

func writeArchitecture(w *canonical.Writer, a models.Architecture) {
	w.String(a.Model)
	w.Uint32(uint32(a.Features))
	w.Uint32(uint32(a.Classes))
	w.Count(len(a.Widths))
	for _, width := range a.Widths {
		w.Uint32(uint32(width))
	}
	w.Uint32(uint32(a.Heads))
	w.Uint32(uint32(a.OutputHeads))
	w.Uint32(uint32(a.Hops))
	w.Uint64(math.Float64bits(a.Teleport))
	w.Flag(a.LinearSkip)
	w.Flag(a.Plain)
}

func readArchitecture(r *canonical.Reader) models.Architecture {
	a := models.Architecture{Model: r.Text(), Features: int(r.Uint32()), Classes: int(r.Uint32())}
	a.Widths = make([]int, r.Count(4))
	for i := range a.Widths {
		a.Widths[i] = int(r.Uint32())
	}
	a.Heads, a.OutputHeads, a.Hops = int(r.Uint32()), int(r.Uint32()), int(r.Uint32())
	a.Teleport = math.Float64frombits(r.Uint64())
	a.LinearSkip, a.Plain = r.Flag(), r.Flag()
	return a
}

// DecodeCheckpoint reads the output of EncodeCheckpoint. The error wraps canonical.ErrCorrupt for
// bytes that are truncated, altered or inconsistent, and canonical.ErrVersion for a format that
// this program does not read.
func DecodeCheckpoint(message []byte, networks ...models.Family) (*Checkpoint, error) {
	return decodeCheckpoint(message, append(models.Served(), networks...))
}

func decodeCheckpoint(message []byte, networks models.Families) (*Checkpoint, error) {
	r, err := canonical.NewReader(message, checkpointMagic, checkpointVersion)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	c := &Checkpoint{Shard: lethe.ShardID(r.Uint32()), Timestep: lethe.Timestep(r.Uint64())}
	r.Bytes(c.Lineage[:])
	r.Bytes(c.Options[:])
	c.Kernels = r.Text()
	c.Model = r.Text()
	network := !keepsBody(c.Model)
	if network {
		c.read(r)
	} else {
		c.Body = readBytes(r)
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if network {
		if err := c.check(networks); err != nil {
			return nil, fmt.Errorf("checkpoint: %w: %w", canonical.ErrCorrupt, err)
		}
	}
	return c, nil
}

// readBytes reads a length-prefixed byte string, nil if empty.
func readBytes(r *canonical.Reader) []byte {
	n := r.Count(1)
	if n == 0 {
		return nil
	}
	out := make([]byte, n)
	r.Bytes(out)
	return out
}
