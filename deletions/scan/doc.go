// Package scan searches for bytes that must no longer exist, without knowing them: a Fingerprint identifies one form
// of a record, and a Scanner finds all fingerprints of a list in one pass.
//
// It finds exact bytes. Copies in compressed, encrypted or base64 data are not: stores have no compression, and
// compressed topics are searched record by record. The forms, and where an occurrence counts, are in forms.go and
// bounds.go.
//
//	fingerprint.go, forms.go, payments.go, columns.go, subjects.go  the forms of targets
//	bounds.go, names.go                where an id counts; names; ids that are words
//	framing.go, framing_kafka.go       longer names around an id
//	scanner.go, scan.go, modular.go    the pass over bytes, its filter and hashes
//	json.go, jsonrows.go, spoken.go, unescape.go  the content of JSON, in any spelling
//	dir.go, hits.go, pacer.go          folders; unchanged files; results; the share of a processor
package scan
