// Package score is the role that turns graphs and models into predictions: it
// follows snapshots.v1 and models.v1 and writes predictions.v1, and for alerts reasons.v1.
//
// # Which ensemble scores a timestep
//
// A timestep is scored by the ensemble trained through the timestep before it
// (further back by the label lag), never by a later one, however far training
// has got. So predictions are a function of the stream, not of a race, and
// every prediction is made before its label could be learnt from.
//
// A transaction that joins a timestep which was scored already is scored by the
// ensemble that is served when its graph is taken. Its prediction says that it came
// late, and is not measured. Those that were published stay. The first timestep stays
// unscored until another comes before it.
//
// # What makes an ensemble complete
//
// The manifests on snapshots.v1 name the digest of every slice. From them the
// role computes the lineage that each shard's checkpoint must have; an ensemble
// is complete when every shard has a checkpoint of that lineage, and is then
// swapped in with one atomic batch. While an erasure is being trained away the
// lineages no longer fit, the ensemble that is served stays as it was, and it
// is replaced as a whole once all affected shards have arrived.
//
// # Who takes over
//
// Where several processes play the role, the leader appends to the journal what it is about to consume, and then
// consumes it: a batch of graphs, models or commands. What it serves and predicts follows from that alone. A process
// that stands by consumes the same batches in the same order, and does what follows from one once the next entry says
// that it is published. So whoever takes over publishes what follows from the last entry, under the same keys with the
// same bytes. Two more entries say what was done: Served after predictions and swaps, so that nobody is behind at rest,
// and Explained after reasons, which are made beside the loop. A process that was away may lack a graph or models that
// are replaced since: it passes over the timesteps that the journal has as scored.
//
// # Before a timestep closes
//
// Under scoring.provisional transactions are scored when they arrive, too, by the served
// ensemble and from what has arrived of their neighbourhood. This goes on beside the loop
// and never before it: final scores wait for one write at most. Package window holds what
// has arrived. It is in memory alone; after a restart it is read again from the newest
// records of transactions.v1, and those of open timesteps are scored again, under the same
// ids where nothing has changed.
//
// # Reasons
//
// No prediction waits for reasons. They are made beside the loop, of the newest timestep first, by the ensemble that
// made the predictions: it is kept until then, though a later one is served. If an erasure changes what that ensemble
// has learnt from, it is released, and the reasons are made by the served one once that is current, before the erasure
// is acknowledged as erased.
//
// # Files
//
//	role.go         what the role is configured with, and opening it
//	logic.go        what leader.go, the role in a process that leads, and standby.go, in one that stands by, share
//	take.go         what has arrived goes into the state
//	advance.go      scoring the next snapshot, or swapping to the ensemble it needs
//	predict.go      probabilities, and the records that carry them
//	explain.go      the reasons of alerts, made beside the loop; explained.go, which alerts have them
//	pins.go         ensembles that are kept until the reasons owed by them are made
//	arrivals.go     what arrives, beside the loop; provisional.go, its scores
//	erasure.go      answering the commands of erasures
//	state.go        what the role knows, and its store
//	state_erase.go  removing what an erasure names; state_forget.go, a timestep that is gone
//	redacted.go     features that are erased, and whose reasons that concerns
//	ensemble.go     whether models have the lineages that are called for; models and meta-models as they arrive
//	stream.go       the timesteps by what has arrived of them
//	keys.go         the store's keys and format; published.go, what was predicted, and how good it was
//	served.go       what a stopped role serves, and what the store of another one takes over from it
package score
