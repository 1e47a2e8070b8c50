// Package stored has the encoding that staging and the stores of closed timesteps share: keys that end in pseudonyms,
// values, rows, and what an erasure removes from them.
//
//	key.go      keys
//	cursor.go   decodes and appends values
//	row.go      transactions, as rows of a store and of a graph
//	erasure.go  what an erasure removes
package stored
