// Package schemas holds the contracts of lethe's topics: JSON Schemas of what people and their
// programs write and read, the Protobuf schema that producers may use instead, the schema of
// the webhooks that tell of alerts, and all of it as one AsyncAPI document.
//
// Within a version of a topic fields are added and never change their meaning. Readers pass over
// fields that they do not know, and over records whose key begins with '!', which lethe writes
// for its own purposes.
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

// Direction says who writes a topic.
type Direction string

// The directions.
const (
	// In: producers and compliance write it, lethe reads it.
	In Direction = "in"
	// Out: lethe writes it for others to read.
	Out Direction = "out"
)

// Contract is what a topic holds.
type Contract struct {
	// Topic is its name without the prefix.
	Topic     string
	Direction Direction
	// Title and Key say what a record is, and what its key is.
	Title, Key string
	// OfHeaders says that the schema describes the records' headers, for the values are others'.
	OfHeaders bool
}

// Contracts lists the topics that are others' to write or to read, in the order of the data.
func Contracts() []Contract {
	return []Contract{
		{Topic: "transactions.v1", Direction: In, Title: "A transaction or payment, or the end of a timestep",
			Key: "the transaction's id; <source>><target> of a payment"},
		{Topic: "labels.v1", Direction: In, Title: "A label of a transaction, or the end of a timestep's labels",
			Key: "the transaction's id"},
		{Topic: "erasures.v1", Direction: In, Title: "A request for erasure, or what is said of one",
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

// Internal lists the topics whose records are lethe's own: with no contract, and different from one
// version to the next.
func Internal() []string {
	return []string{"snapshots.v1", "slices.v1", "models.v1", "control.v1", "journal.v1"}
}

// AlertWebhook names the schema of what webhooks deliver.
const AlertWebhook = "alert-webhook.v1"

// Names lists what Schema knows.
func Names() []string {
	var out []string
	for _, c := range Contracts() {
		out = append(out, c.Topic)
	}
	return append(out, AlertWebhook)
}

// Schema returns a JSON Schema (draft 2020-12) by the name of its topic without the prefix, or by
// AlertWebhook. The error names what there is.
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
