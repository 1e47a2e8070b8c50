package trainer

import (
	"lethe"
	"lethe/canonical"
)

// Lineage extends a chain of slice digests by one slice: SHA-256 over the previous digest and the
// slice's canonical digest. Two checkpoints of one lineage, made with one kernel set, have the
// same bytes.
func Lineage(previous, slice lethe.Digest) lethe.Digest {
	w := canonical.NewDigester("LLIN", 1)
	w.Bytes(previous[:])
	w.Bytes(slice[:])
	return w.Digest()
}

// Genesis is the start of a lineage with fresh weights and a number of slices in the first call.
// It covers the configuration, so that another configuration has another lineage, and the number,
// because one call of Train on two slices gives other weights than two calls.
func (c Config) Genesis(slices int) lethe.Digest {
	fingerprint := c.Fingerprint()
	w := canonical.NewDigester("LGEN", 1)
	w.Bytes(fingerprint[:])
	w.Uint32(uint32(slices))
	return w.Digest()
}

// LineageOf returns the lineage of the checkpoint that Train returns for a window of slices,
// given by their canonical digests, after a checkpoint with the previous lineage (zero if there
// is none). So the expected checkpoint of a shard can be determined from its slices' digests.
//
// Under Continual it covers every slice ever trained on. Under Window it covers only the window,
// because older slices do not affect the weights.
func (c Config) LineageOf(previous lethe.Digest, window []lethe.Digest) lethe.Digest {
	if len(window) == 0 {
		return previous
	}
	if c.Schedule == Continual && !previous.IsZero() {
		return Lineage(previous, window[len(window)-1])
	}
	d := c.Genesis(len(window))
	for _, slice := range window {
		d = Lineage(d, slice)
	}
	return d
}
