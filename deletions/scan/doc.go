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
package scan
