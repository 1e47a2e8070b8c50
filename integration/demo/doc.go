// Package demo runs the real lethe demo, on generated and on real data, and
// checks what it claims: time, memory, quality, the receipt, and with a search
// of its own that nothing of the erased transaction is left.
package demo
