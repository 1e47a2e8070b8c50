package loops

import "lethe/trainer/kernels"

// Of returns the set that is as fast as a set of the trainer's kernels.
func Of(k kernels.Set) Set {
	if k.Detail == "AVX-512" {
		return Set{Heads: avx512Heads{}, Draws: avx512Draws{}, Activations: avx512Activations{}}
	}
	return plain()
}
