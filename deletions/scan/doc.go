// Package scan looks for bytes that must not be found any more without knowing
// them: a Fingerprint stands for one form of a record, a Scanner finds all
// fingerprints of a list in one pass over data, folders included.
//
// # What a byte scan can and cannot find
//
// The scanner finds exact bytes. A copy inside compressed, encrypted or
// base64-encoded data is not exact bytes: stores are opened without
// compression, topics written without compression or scanned record by record.
// The forms that are searched, and the rule that decides which occurrences of
// an id count, are in forms.go and bounds.go.
//
//	fingerprint.go                  what stands for a form of a record
//	forms.go, columns.go, payments.go  the forms of ids, of feature rows and of payments
//	columns.go                      features of a transaction, by what is said of it
//	bounds.go, names.go, words.go   where an id counts; ids within others; ids that are words
//	framing.go, framing_kafka.go    the frame by which a longer name is told, whatever its characters
//	names.go, jsonnames.go          what may be a name; the strings of JSON that are names
//	scanner.go, scan.go, anchor.go  the pass over data, and the filter before it
//	modular.go                      the arithmetic of rolling hashes
//	json.go, jsonrows.go            other spellings of ids and rows in JSON
//	dir.go, subset.go, seen.go      folders; parts of them; files that need not be read again
//	hits.go, pacer.go               what was searched; how much of a processor it takes
package scan
