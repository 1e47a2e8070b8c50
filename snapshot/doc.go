// Package snapshot builds the graph of every timestep from two streams of
// records, keeps it on disk, and forgets transactions on request. It knows no
// broker: records come in as values, with the place they came from.
//
// # Life of a timestep
//
// A timestep is open while it fills, closed once its graph is complete, and
// settled once its labels are in. Timesteps close and settle in ascending
// order; settling adds labels and an assignment and keeps the revision. Afterwards
// two things change a snapshot, and give it a new revision: Erase, and late records,
// which wait in staging until ReopenTimestep makes them part of it.
//
// What a timestep holds in the end is a function of the set of its records alone, and
// of the order of those that share a key: not of batches, of how partitions interleave,
// of when it closed, or of records that were refused or erased. The same holds for
// which timesteps there are, and for what is refused of payments and labels.
//
// # When a timestep is over
//
// The transactions stream has P partitions, the labels stream Q. Each partition
// has a watermark W, which starts at the first timestep and never falls:
//
//   - a record of timestep t raises W to at least t - lateness (whatever becomes
//     of the record, unless it names an erased transaction: such a record is
//     dropped before it moves anything; a negative lateness means that data
//     never raises W);
//   - a control record of timestep t raises W to at least t + 1;
//   - a record or control record of a timestep beyond W + the greatest jump is
//     refused and raises nothing, or one wrong number would end a partition.
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
// A record of timestep t is late if t < W where it stands in its partition's log. It
// is taken all the same, unless Config.Late says DeadLetter, t is before the first
// timestep, or t is further behind W - 1, the newest timestep that the partition has ended, than
// Config.ReopenTimesteps. If t is open, the record simply joins. Otherwise it waits,
// durably, until ReopenTimestep: that writes the timestep's store anew and partitions it
// afresh, or inserts a timestep that nobody knew of, which gives the closed timestep
// after it a new revision, for it follows another one now.
//
// # Which records belong to a snapshot
//
// Within its timestep the last record of a transaction in log order wins; an id
// travels through one partition, so that order is defined. A record of the same id in
// another timestep than its first is refused. Of equal payments the first is kept. Of
// several labels for the same id and timestep the last wins. An exact duplicate of what
// is stored is never late and changes nothing. A record below the stored offset of its
// partition was delivered again and changes nothing at all, the watermark included.
//
// A payment or label may come before the transactions it refers to, even before those
// that come late. It stays in staging, with its origin, until a graph takes it. Once its
// timestep is over it is judged: a letter says that it is refused, and why. It is judged
// again whenever a closed timestep gets transactions that it names. When it becomes part
// of a graph after all, its letter is withdrawn. Only transactions of closed timesteps
// count, because which others have arrived depends on how partitions interleave.
//
// A timestep that an erasure empties is gone: it is in no list but Gone, and the closed
// timestep after it follows the one before it, with a new revision.
//
// The number of features is configured, or told by the first timestep that may close
// and has ten transactions or more: the most frequent one. Before, transactions of any
// width are candidates, and smaller timesteps wait: see TellFeatureCount. Once told, no
// record and no erasure moves it.
//
// # On disk
//
//	<dir>/staging/        offsets, watermarks, open timesteps, what waits or is refused
//	<dir>/staging/rows/   transactions of open timesteps that came together, see package openrows
//	<dir>/t000012/        the snapshot of timestep 12, once it is closed, see package closed
//
// Both kinds are swapstores. A batch of records is one atomic write to staging,
// with the consumed offset. Which timesteps are closed or settled, staging
// alone decides: a timestep store that staging does not list is left from a
// crash and removed. Keys hold pseudonyms; ids stand in values only.
//
// # Concurrency
//
// One goroutine owns a Store. Marks may be used from any, and so may Closing.Make.
//
// # Files of the package
//
//	config.go, record.go    settings and errors; sources, verdicts, letters, what is told of a timestep
//	store.go, marks.go      the Store, and marks for its owner
//	batch.go                records of one partition
//	take.go, refer.go       what becomes of a transaction; of a payment or label, which refer to one
//	foresee.go              what does not depend on the records before, for many transactions at once, and what is
//	                        known of them
//	width.go                the number of features
//	lifecycle.go, reopen.go close and settle a timestep; deal it afresh, late records into it
//	judge.go                what is in no graph: why not, and until it is said
//	subjects.go             who carries which subjects
//	targets.go, alike.go    where what is to be erased is; who has equal features
//	named.go                which of some transactions and payments are here
//	redact.go               features that are erased: 0 in what comes and in what is here
//	erase.go                take the targets out of all stores; erasestaging.go
//	staging.go              the part with open timesteps: its store and its mirror; how many may be open
//	recover.go              staging read from disk, crashes made good
//	keys.go                 keys and values; pending.go: of what is in no graph, and how much of it may wait
//
// Package stored has what staging and the stores of closed timesteps share, package closed those stores, and package
// index where each transaction is, and package suppressed what is erased.
package snapshot
