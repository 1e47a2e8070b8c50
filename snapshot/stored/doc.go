// Package stored has what the stores of staging and of closed timesteps share: keys that end in pseudonyms, values that
// are taken apart, rows, and what an erasure takes of them.
//
//	key.go      keys
//	cursor.go   values taken apart, and appended
//	row.go      transactions, as rows of a store and of a graph
//	erasure.go  what goes
package stored
