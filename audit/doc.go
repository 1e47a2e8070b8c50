// Package audit checks a data directory from outside the roles: that its graphs,
// slices, checkpoints and served ensemble belong together; that ledger, receipts,
// keys, suppression and the broker's log are there and agree; that nothing of an
// erased record is left in files and topics; and, if asked, that every checkpoint
// is what training its slices from fresh weights gives, byte for byte.
//
// It opens the stores itself, so no role may be running on the directory.
//
//	audit.go     what is checked, and the report
//	stores.go    the stores of train and score; errors with their remedies
//	graphs.go    the store of graphs, the ledger, suppression; independent.go, shards by ids alone
//	models.go    slices, models and meta-models, and the lineages between them
//	fresh.go     every model trained anew
//	receipts.go  keys and receipts
//	broker.go    the embedded broker's log
//	search.go    the search for erased records
package audit
