package kernels

import "golang.org/x/sys/cpu"

// allLoops returns the loops in assembly that this processor can run.
func allLoops() []loops {
	var all []loops
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all = append(all, avx2Loops{})
	}
	if l := bestLoops(); l == (avx512Loops{}) {
		all = append(all, l)
	}
	return all
}
