// Package audit checks a data directory independently of the roles: that graphs, slices, checkpoints and the served
// ensemble match; that ledger, receipts, keys, suppression and the broker's log are present and agree; that no data of
// an erased record remains in files and topics; and, optionally, that retraining every checkpoint from fresh weights
// gives the same bytes.
//
// It opens the stores itself, so no role may be running on the directory.
//
//	audit.go     the checks and the report
//	stores.go    the stores of train and score; errors with their remedies
//	graphs.go    the store of graphs, the ledger, suppression; independent.go, shards by ids alone
//	models.go    slices, models and meta-models, and the lineages between them
//	fresh.go     retraining of every model
//	receipts.go  keys and receipts
//	broker.go    the embedded broker's log
//	search.go    the search for erased records
package audit
