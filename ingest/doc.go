// Package ingest defines the records that enter lethe: their JSON forms, what
// is accepted, why a record is refused, and the dead letters in which refused
// records are kept. It is pure: it knows no broker, no clock and no store.
//
// # Formats
//
// Every value is one JSON object, or, on transactions.v1, a Protobuf message in the wire format of
// Confluent's serializers, as schemas/transactions.v1.proto has it: the same is accepted of either,
// and refused for the same reasons, and what lethe writes anew keeps its format. Field order is
// free. Fields of a transaction, payment or label that its type does not have are ignored and
// never stored: they stay in the topic, and in the dead letter of a record that is refused when
// it is read. In other records such fields are refused, and everywhere fields given twice,
// trailing bytes and invalid UTF-8.
// The folder schemas has the JSON Schemas of the three topics, which are tested against the codec.
// They tell what JSON Schema can tell: field names, kinds and bounds; keys,
// duplicate fields and what is printable are checked by decoding only.
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
// Features are finite as float32 and at most ingest.max_magnitude from 0; one that
// is too small for float32 is 0. null says that a feature has no value.
//
// Subjects, which may be left out, are the keys of customers, accounts or addresses whom a
// transaction or payment concerns.
//
// An erasure names transactions in nodes, payments, features that become 0 in features_of (all,
// or those at the columns), or subjects with the last timestep of
// what goes in until, or several of these. In it, until (else the newest timestep when the
// request is accepted), scope (else erasure.default_scope), reason and requested_at may be left
// out. A close says that its partition holds everything up to and including the timestep; a
// settle says the same of labels. A marker means nothing: it exists so that the record before it
// no longer is the newest one, because a broker never
// compacts the newest part of a log.
//
// A record without a value (a tombstone) deletes what its key names. One under a key that is no
// id names nothing.
//
//	event.go, record.go, ids.go       what a record says, the record itself, valid ids
//	decode.go, decodeerasure.go       records decoded; object.go, targetfields.go and
//	                                  scan*.go, their strict JSON
//	binary.go, spelled.go             their Protobuf, and what it says as JSON, for searches
//	featuresof.go                     features that are erased, and the record without them
//	encode.go, encoding.go, keys.go   records as lethe writes them, in JSON or Protobuf, and their keys
//	limits.go                         bounds of what is accepted
//	reason.go, deadletter.go, cut.go  why a record is refused, and what is kept of it
package ingest
