// Package api is the HTTP interface for people and programs, under /api/v1. All responses come from
// the view (pipeline/view), so any process with that role can serve all requests.
//
// Ids of transactions are in no URL, because URLs are logged: clients look up an id in the body of
// a request, and continue with the reference in the response. Errors are problems of RFC 9457,
// pages have cursors, and responses have entity tags. The interface is described by an OpenAPI 3.1
// document, which is served, and which a test compares with every route and response.
//
//	api.go           the routes
//	answer.go        responses: JSON with entity tags, problems
//	query.go         parameters: numbers, limits, cursors
//	transactions.go  transactions, reasons, neighbourhoods; predictions and alerts
//	timesteps.go     timesteps with their quality, and their partition into shards
//	models.go        ensembles and their differences; the effect of a threshold or a budget
//	erasures.go      the status of requests
//	change.go        requests submitted and cancelled; labels
//	log.go           receipts, keys, and the transparency log with its proofs
//	letters.go       dead letters
//	events.go        a stream of changes
//	openapi.json     the description
package api
