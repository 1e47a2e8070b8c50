// Package api is the HTTP interface for people and their programs, under /api/v1. What it answers
// with is the view (pipeline/view) and nothing else, so that any process that plays it answers for
// all.
//
// Ids of transactions stand in no address, which ends up in logs: whoever has an id looks it up, in
// the body of a request, and goes on with the reference that he is given. Errors are problems of
// RFC 9457, pages have cursors, and answers have entity tags. The interface is described by an
// OpenAPI 3.1 document, which is served, and which a test compares with every route and answer.
//
//	api.go           the routes
//	answer.go        answers: JSON with entity tags, problems
//	query.go         what addresses ask for: numbers, limits, cursors
//	transactions.go  transactions, reasons, neighbourhoods; predictions and alerts
//	timesteps.go     timesteps with their quality, and how they were dealt to shards
//	models.go        ensembles and what changed between two; what a threshold or a budget comes to
//	erasures.go      the status of requests
//	change.go        requests made and taken back; what transactions were
//	log.go           receipts, keys, and the transparency log with its proofs
//	letters.go       dead letters
//	events.go        what changes, as it changes
//	openapi.json     the description
package api
