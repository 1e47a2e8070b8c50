// Package schemas holds the schemas of what producers write.
package schemas

import _ "embed"

// Transactions is the Protobuf schema of transactions.v1.
//
//go:embed transactions.v1.proto
var Transactions string
