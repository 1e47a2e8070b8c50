// Package graphs is the role that turns records into graphs and graphs into
// slices. It holds the graphs for the erasure coordinator and drives it.
//
// It follows transactions.v1, labels.v1, erasures.v1 and control.v1. One
// step follows the other: a timestep is never closed, settled and rewritten at
// once. Beside the steps run the search that verifies an erasure, which touches
// no state, and what closing and settling a timestep take longest for; their end
// wakes the role. What is published is repeatable: after a
// crash the same messages go out again under the same keys with the same bytes.
//
//	role.go       opening the stores
//	options.go    what it is given, and what a store was begun with
//	lost.go       what was lost is made again, a whole store of graphs too, which is told the number of features
//	standby.go    a process that stands by; takeover.go, what it hears, and leading from then on
//	ports.go      what the role needs of topics, store and search; the coordinator's notes, kept with the offsets
//	logic.go      the step function: take what arrived, do what is due
//	intake.go     records into the snapshot store, refused ones to dlq.v1; decoded.go, what does not depend on
//	              the records before them, by several goroutines, and batches on their way to the disk
//	lifecycle.go  settling and reopening timesteps; closing.go, closing them; beside.go, what settling takes longest
//	              for, slices that are sent, and searches, beside the loop
//	publish.go    graphs, slices and manifests to the other roles; dispatch.go, what goes together, and dead letters;
//	              commitments.go, the transparency log, and what it commits to of slices and models
//	erase.go      what the coordinator asks for: suppress, rewrite, search
//	plan.go       what an erasure will change; cut.go, the slices whose digest differs and the stubs that remain;
//	              afresh.go, a timestep partitioned without the targets; records.go, the records that are known,
//	              and what carries subjects; redacted.go, features that become 0, in records and in graphs
//	questions.go  what others ask, answered between two steps; held.go, what is held of a target
package graphs
