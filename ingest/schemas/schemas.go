// Package schemas holds the contracts of lethe's topics: JSON Schemas of the public records, the
// Protobuf schema that producers may use instead, the schema of the alert webhooks, and all of
// them as one AsyncAPI document.
//
// Within a version of a topic, fields may be added and never change their meaning. Readers
// ignore unknown fields, and records whose key begins with '!', which lethe writes for its own
// purposes.
package schemas

import (
	"embed"
	"fmt"
	"slices"
)

// Transactions is the Protobuf schema of transactions.v1.
//
//go:embed transactions.v1.proto
var Transactions string

//go:embed *.json
var files embed.FS

// Direction is the writer of a topic.
type Direction string

// The directions.
const (
	// In: producers and compliance write it, lethe reads it.
	In Direction = "in"
	// Out: lethe writes it for others to read.
	Out Direction = "out"
)

// Contract describes the records of a topic.
type Contract struct {
	// Topic is its name without the prefix.
	Topic     string
	Direction Direction
	// Title describes a record, Key the key of the record.
	Title, Key string
	// OfHeaders means that the schema describes the records' headers, because their values
	// come from other programs.
	OfHeaders bool
}

// Contracts lists the public topics, in the order of the data flow.
func Contracts() []Contract {
	return []Contract{
		{Topic: "transactions.v1", Direction: In, Title: "A transaction or payment, or the end of a timestep",
			Key: "the transaction's id; <source>><target> of a payment"},
		{Topic: "labels.v1", Direction: In, Title: "A label of a transaction, or the end of a timestep's labels",
			Key: "the transaction's id"},
		{Topic: "erasures.v1", Direction: In, Title: "A request for erasure; a signature, hold or cancellation of one",
			Key: "the request id"},
		{Topic: "predictions.v1", Direction: Out, Title: "The newest prediction of a transaction",
			Key: "the transaction's id"},
		{Topic: "reasons.v1", Direction: Out, Title: "Why a transaction is an alert", Key: "the transaction's id"},
		{Topic: "erasure-status.v1", Direction: Out, Title: "Where a request for erasure stands", Key: "the request id"},
		{Topic: "receipts.v1", Direction: Out, Title: "The signed receipt of an erasure", Key: "the request id"},
		{Topic: "log.v1", Direction: Out, Title: "A leaf of the transparency log",
			Key: "the leaf's index, 16 digits; checkpoint"},
		{Topic: "dlq.v1", Direction: Out, Title: "A record that could not be taken", OfHeaders: true,
			Key: "the record's key, of labels and payments with a prefix"},
	}
}

// Internal lists the topics for lethe's own use: they have no contract, and their records may
// change with each version.
func Internal() []string {
	return []string{"snapshots.v1", "slices.v1", "models.v1", "control.v1", "journal.v1"}
}

// AlertWebhook names the schema of webhook deliveries.
const AlertWebhook = "alert-webhook.v1"

// Names lists the names that Schema accepts.
func Names() []string {
	var out []string
	for _, c := range Contracts() {
		out = append(out, c.Topic)
	}
	return append(out, AlertWebhook)
}

// Schema returns a JSON Schema (draft 2020-12) by the name of its topic without the prefix, or by
// AlertWebhook. The error lists the known names.
func Schema(name string) ([]byte, error) {
	if slices.Contains(Internal(), name) {
		return nil, fmt.Errorf("records of %s are lethe's own, and of another form in another version", name)
	}
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no schema is called %.80q: there are %v", name, Names())
	}
	return text, nil
}
