// Package score is the role that makes predictions from graphs and models: it consumes snapshots.v1 and models.v1, and
// publishes predictions.v1 and, for alerts, reasons.v1.
//
// # Which ensemble scores a timestep
//
// A timestep is scored by the ensemble trained through the timestep before it (earlier by the label lag), never by a
// later one, however far training is. So predictions are a function of the stream, and every prediction is made before
// its label could be learnt from.
//
// A transaction that joins a scored timestep is scored by the ensemble that is served when its graph is read. Its
// prediction is marked as late and is not measured. Published predictions stay. The first timestep is not scored until
// another precedes it.
//
// # What makes an ensemble complete
//
// The manifests on snapshots.v1 have the digest of every slice. From them the role computes the lineage that each
// checkpoint must have. An ensemble is complete when every shard has a checkpoint of that lineage, and is then swapped
// in with one atomic batch. During the retraining of an erasure the lineages do not match, and the served ensemble
// stays until all affected checkpoints have arrived.
//
// # Taking over
//
// If several processes have the role, the leader appends to the journal what it consumes next: a batch of graphs,
// models or commands. The served ensembles and predictions follow from that alone. A standby consumes the same batches
// in the same order, and computes what follows from one once the next entry confirms that it is published. So a new
// leader publishes what follows from the last entry, under the same keys with the same bytes. Two more entries confirm
// work: Served follows predictions and swaps, so that no standby is behind at rest, and Explained follows reasons,
// which are made beside the loop. A process that was stopped may lack a graph or models that are replaced since: it
// skips the timesteps that the journal has as scored.
//
// # Before a timestep closes
//
// With scoring.provisional transactions are also scored when they arrive, by the served ensemble and from the arrived
// part of their neighbourhood. This runs beside the loop: final scores wait for one write at most. Package window
// holds the arrived transactions in memory; after a restart it is filled from the newest records of transactions.v1,
// and transactions of open timesteps are scored again, with the same ids if nothing has changed.
//
// # Reasons
//
// No prediction waits for reasons. They are made beside the loop, for the newest timestep first, by the ensemble that
// made the predictions, which is kept until then. If an erasure changes what that ensemble has learnt from, it is
// released, and the served ensemble makes the reasons once it is current, before the erasure is acknowledged as
// erased.
//
// # Files
//
//	role.go         options and opening
//	logic.go        the common part of leader.go and standby.go
//	take.go         storing graphs, manifests and models
//	advance.go      scoring the next snapshot, or swapping to the ensemble it needs
//	predict.go      probabilities and prediction records
//	explain.go      reasons of alerts, beside the loop; explained.go, the alerts that have them
//	pins.go         ensembles that are kept for reasons
//	arrivals.go     arriving transactions, beside the loop; provisional.go, their scores
//	erasure.go      commands of erasures
//	state.go        the state and its store
//	state_erase.go  what an erasure replaces and removes; hidden.go, its suppressed targets
//	models.go       stored models and the served ensemble; ensemble.go, their lineages
//	stream.go       the timesteps and their states
//	keys.go         the store's keys and format; quality.go, the measured predictions
//	served.go       the ensemble of a stopped role; copying suppression to another store
package score
