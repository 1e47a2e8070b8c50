package partition

import (
	"lethe"
	"lethe/partition/graph"
)

// turn moves every node on by the same number of shards, by another at every timestep.
// Quotas end with the last class, so what is left over of it comes to the same shards
// wherever timesteps have as many nodes. Without turning, on such a stream of few illicit
// transactions some shards would get one at every timestep, and others never. Within a
// timestep it changes nothing but the numbers.
//
// Independent shards are not dealt out, and nothing is left over.
func turn(a graph.Assignment, c Config) {
	if c.Method == MethodIndependent {
		return
	}
	by := turnOf(c.Timestep, c.Shards)
	for i := range a {
		a[i] = lethe.ShardID((int(a[i]) + by) % c.Shards)
	}
}

// goldenSection is the golden section of 2^32 (Knuth, The Art of Computer Programming,
// volume 3, section 6.4).
const goldenSection = 2654435769

// turnOf is a number of shards. Its multiples of the golden section spread any run of
// timesteps evenly over the shards.
func turnOf(t lethe.Timestep, shards int) int {
	return int(uint64(uint32(t)*goldenSection) * uint64(shards) >> 32)
}
