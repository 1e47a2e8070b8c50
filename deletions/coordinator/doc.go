// Package coordinator carries out erasures. It owns the ledger, what an erasure
// will change, the states it goes through, its verification and its receipt. It
// speaks to the graphs through Graphs and to everyone else through Bus.
//
// A Coordinator does nothing by itself: its caller gives it records and the time
// and calls Advance. It starts no goroutine; the search at the end is a function
// that the caller runs in another goroutine.
//
//	options.go        its configuration; what it needs of graphs, topics, receipts and clock
//	coordinator.go    the parts, and the loop through the open requests
//	requests.go       Requests: erasures.v1, in, and out when nobody needs it
//	jobs.go           the requests whose targets are still needed; in which order, and by when,
//	                  requests begin, and which are overdue
//	batches.go        requests that are carried out together, and when they begin
//	signed.go         what must be signed, and the signature of a second person
//	states.go         the table of states, and how a batch moves through them
//	<state>.go        what is done in a state; erased.go, in swapped too; planner.go, what rewriting will change
//	cancelled.go      requests that are taken back before anything is rewritten
//	held.go           requests that wait for a hold, and the holds
//	outcomes.go       what became of each target
//	acks.go           what the other roles answered
//	outbox.go         what is said: states, commands, withdrawals
//	returning.go      Erased: records that name what was erased
//	withdrawal.go     known records withdrawn at once, all others when they were found;
//	                  redacted.go, those that features are taken out of
//	verification.go   Verification: when what is left is searched for
//	search.go         that search, the places it looks into, and what it has found;
//	                  topics.go, the records of a topic; cleaning.go, when the brokers' cleaner has passed
//
// Every step may be repeated: a state is in the ledger before its step begins,
// messages have the same keys and bytes the second time, and the graphs' methods
// do nothing that has been done. So a crash anywhere only repeats a step.
package coordinator
