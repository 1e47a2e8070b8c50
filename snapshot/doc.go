// Package snapshot builds the graph of every timestep from two streams of records, stores it on
// disk, and erases transactions on request. It does not depend on a broker: records arrive as
// values, with their topic, partition and offset.
//
// # Life of a timestep
//
// A timestep is open while it fills, closed once its graph is complete, and settled once its labels
// are in. Timesteps close and settle in ascending order; settling adds labels and an assignment and
// keeps the revision. Afterwards two things change a snapshot and give it a new revision: Erase, and
// late records, which wait in staging until ReopenTimestep adds them.
//
// The final content of a timestep is a function of the set of its records, and of the order of
// records that share a key. It does not depend on batches, on how partitions interleave, on when the
// timestep closed, or on rejected or erased records. The same holds for the set of timesteps and for
// the rejected payments and labels.
//
// # When a timestep is over
//
// The transactions stream has P partitions, the labels stream Q. Each partition
// has a watermark W, which starts at the first timestep and never falls:
//
//   - a record of timestep t raises W to at least t - lateness, whatever its
//     verdict. Two exceptions: a record that names an erased transaction is dropped
//     and changes nothing, and with a negative lateness data never raises W;
//   - a control record of timestep t raises W to at least t + 1;
//   - a record or control record of a timestep beyond W + MaxTimestepJump is
//     rejected and does not raise W: one wrong number would end a partition.
//
// With a lateness of 0, the first record of t+1 ends t for its partition.
//
//   - t may close when every transactions partition has W > t.
//   - t may settle when it and all known timesteps before it are closed, those
//     before it are settled, and every labels partition has W > t.
//
// A timestep is known once it has an accepted transaction.
//
// # Late records
//
// A record of timestep t is late if t < W at its offset in the log of its partition. It is accepted
// nevertheless, unless Config.Late is DeadLetter, t is before the first timestep, or t is more than
// Config.ReopenTimesteps behind W - 1, the newest timestep that the partition has ended. If t is
// open, the record simply joins it. Otherwise it waits, durably, until ReopenTimestep rewrites the
// timestep's files and partitions it again. If t is unknown, ReopenTimestep inserts it, and the
// closed timestep after it gets a new revision because its predecessor changed.
//
// # Which records belong to a snapshot
//
// Within a timestep the last record of a transaction in log order wins; all records of an id are in
// one partition, so that order is defined. A record of the same id in another timestep is rejected.
// Of equal payments the first is stored. Of several labels for the same id and timestep the last
// wins. An exact duplicate of a stored record is never late and changes nothing. A record below the
// stored offset of its partition is a redelivery and changes nothing, not even the watermark.
//
// A payment or label may arrive before the transactions it refers to, even if these are late. It
// stays in staging, with its origin, until it joins a graph. Once its timestep is over it is judged:
// a letter reports that it is rejected, and why. It is judged again whenever a closed timestep gets
// transactions that it names. If it joins a graph after all, its letter is withdrawn. Only
// transactions of closed timesteps count, because which others have arrived depends on how
// partitions interleave.
//
// A timestep that an erasure empties is deleted: only Gone lists it, and the closed timestep after
// it gets a new predecessor and a new revision.
//
// The number of features is configured, or fixed by the owner before the first transaction. No record and
// no erasure changes it.
//
// # On disk
//
//	<dir>/staging/        offsets, watermarks, open timesteps, waiting and rejected records
//	<dir>/staging/rows/   transactions of open timesteps that arrived together, see package openrows
//	<dir>/t000012.3.*     two files of timestep 12, once it is closed: the graph and the shards of a revision, see
//	                      package closed
//
// Staging is a swapstore. A batch of records is one atomic write to it, including the consumed offset. Staging alone
// decides which timesteps are closed or settled: a file that it does not list was left behind by a crash and is
// removed. Keys hold pseudonyms; ids are only in values.
//
// # Concurrency
//
// One goroutine owns a Store. Marks and Closing.Make may be used from any goroutine.
//
// # Files of the package
//
//	config.go, record.go    settings and errors; sources, verdicts, info of a timestep
//	store.go, marks.go      the Store and its options; marks for its owner, the number of features
//	timesteps.go            which timesteps there are, and which are due; their revisions
//	batch.go, arrival.go    records of one partition; whether they are late, too far ahead or too many
//	take.go, overlay.go     transactions, payments and labels; what is stored after the batch
//	foresee.go              precomputation for many transactions at once
//	lifecycle.go, reopen.go close and settle a timestep; add late records, partition again
//	judge.go, letters.go    verdicts on payments and labels that are in no graph, and letters about them
//	targets.go, named.go    locate targets of an erasure; which transactions and payments are stored, and equal features
//	erase.go                erase targets from all graphs; erasestaging.go: from staging, and features
//	staging.go              the store of open timesteps, mirrored in memory
//	recover.go              open staging, recover from a crash
//	keys.go, pending.go     keys and values; those of waiting records
//
// Package stored has the encoding that all stores share, package closed the stores of closed
// timesteps, package index the index of transactions, package subjects those of
// subjects, package suppressed the erased targets, package lacking the bound of what waits.
package snapshot
