// Package stored has the encoding that staging and the stores of closed timesteps share: keys that end in pseudonyms,
// values, rows, and the targets of an erasure in them.
//
//	key.go      keys
//	cursor.go   decodes and appends values
//	row.go      transactions, as rows of a store and of a graph
//	erasure.go  the targets of an erasure
package stored
