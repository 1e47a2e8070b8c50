package partition

import (
	"lethe"
	"lethe/partition/graph"
)

// turn rotates the shard numbers of all nodes by an offset that depends on the timestep. The
// remainders of the last class always fall to the same shards if timesteps have equally many
// nodes. Without rotation, on a stream with few illicit transactions some shards would get one at
// every timestep, and others never. Within a timestep only the numbers change.
//
// Independent shards have no remainders and are not rotated.
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

// turnOf returns the offset of a timestep. Multiples of the golden section spread any run of
// timesteps evenly over the shards.
func turnOf(t lethe.Timestep, shards int) int {
	return int(uint64(uint32(t)*goldenSection) * uint64(shards) >> 32)
}
