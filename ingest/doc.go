// Package ingest defines the records that enter lethe: their formats, the rules for accepting and rejecting them, and
// the dead letters in which rejected records are stored. It is pure: it uses no broker, no clock and no store.
//
// # Formats
//
// Every value is one JSON object, or, on transactions.v1, a Protobuf message in the wire format of
// Confluent's serializers, as schemas/transactions.v1.proto defines it: both are accepted and
// rejected by the same rules, and a record that lethe rewrites keeps its format. Field order is
// free. Unknown fields of a transaction, payment or label are ignored and never stored: they remain
// only in the topic, and in the dead letter of a record that is rejected when it is read. Other
// records are rejected for unknown fields, and every record for duplicate fields, trailing bytes
// and invalid UTF-8. The folder schemas has the JSON Schemas of the three topics, which are tested
// against the codec. They cover what JSON Schema can express: field names, kinds and bounds; keys,
// duplicate fields and printable characters are checked by decoding only.
//
// transactions.v1, keyed by the transaction id, or by source>target for a
// payment:
//
//	{"type":"transaction","id":"a","timestep":1,"features":[0.5,-1],"subjects":["c-1"]}
//	{"type":"payment","source":"a","target":"b","timestep":1,"subjects":["c-1"]}
//	{"type":"close","timestep":1}     key !close/<timestep>/<partition>
//	{"type":"marker"}                 key !marker/<anything>
//
// labels.v1, keyed by the transaction id:
//
//	{"type":"label","id":"a","timestep":1,"label":"illicit"}
//	{"type":"settle","timestep":1}    key !settle/<timestep>/<partition>
//	{"type":"marker"}
//
// erasures.v1, keyed by the request id:
//
//	{"type":"erasure","request_id":"r-1","nodes":["a"],"scope":"stubs",
//	 "payments":[{"source":"b","target":"c"}],"subjects":["c-1"],"until":7,
//	 "features_of":[{"id":"d"},{"id":"e","columns":[0,7]}],
//	 "reason":"art. 17","requested_at":"2026-01-02T03:04:05Z"}
//	{"type":"marker"}
//
// Features are finite as float32 and at most ingest.max_magnitude in absolute value; a
// value too small for float32 becomes 0. null means that a feature is missing.
//
// Subjects, which are optional, are the keys of the customers, accounts or addresses that
// a transaction or payment concerns.
//
// An erasure request names one or more of: transactions in nodes; payments; features to set to 0
// in features_of (all, or those at the columns); subjects, with the last affected timestep in
// until. Optional are until (the newest timestep when the request is accepted), scope
// (erasure.default_scope), reason and requested_at. A close declares that its partition holds
// all transactions up to and including the timestep; a settle declares the same for labels. A
// marker has no meaning: a broker never compacts the newest part of a log, so a marker is
// appended to let the previous record be compacted.
//
// A record without a value (a tombstone) deletes the record of its key from the topic, and has no
// other effect.
//
//	event.go, record.go, ids.go       decoded events, the record itself, valid ids
//	decode.go, decodeerasure.go       decoding; object.go, targetfields.go and
//	                                  scan*.go parse their strict JSON
//	binary.go, spelled.go             Protobuf, and its JSON form for searches
//	featuresof.go                     erased features, and the record without them
//	encode.go, encoding.go, keys.go   encoding in JSON or Protobuf, and record keys
//	limits.go                         bounds of accepted records
//	reason.go, deadletter.go, cut.go  reasons for rejection; the content of dead letters
package ingest
