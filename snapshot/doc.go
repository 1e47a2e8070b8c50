// Package snapshot builds the graph of every timestep from two streams of
// records, keeps it on disk, and forgets transactions on request. It knows no
// broker: records come in as values, with the place they came from.
//
// # Life of a timestep
//
// A timestep is open while it fills, closed once its graph is complete, and
// settled once its labels are in. Timesteps close and settle in ascending
// order. A closed or settled snapshot changes only by Erase, which gives it a
// new revision; settling adds labels and an assignment and keeps the revision.
//
// # Which records belong to a snapshot
//
// The transactions stream has P partitions, the labels stream Q. Each partition
// has a watermark W, which starts at the first timestep and never falls:
//
//   - a record of timestep t raises W to at least t - lateness (whatever becomes
//     of the record; a negative lateness means that data never raises W);
//   - a control record of timestep t raises W to at least t + 1;
//   - a record or control record of a timestep beyond W + the greatest jump is
//     refused and raises nothing, or one wrong number would end a partition.
//
// A record of timestep t is late if t < W where it stands in its partition's
// log. So lateness, as well as what is too far ahead, is decided by the log of
// one partition alone, not by how partitions interleave, batches are cut, or the
// process is restarted. With a lateness of 0, the first record of t+1 ends t for
// its partition.
//
//   - t may close when every transactions partition has W > t: no partition can
//     contribute to it any more, and all that contributes has been stored.
//   - t may settle when it and all known timesteps before it are closed, those
//     before it are settled, and every labels partition has W > t.
//
// A timestep is known once it has an accepted transaction.
//
// Within its timestep the last record of a transaction in log order wins; an id
// travels through one partition, so that order is defined. Of equal payments
// the first is kept. Of several labels for the same id and timestep the last
// wins. An exact duplicate of what is stored is never late and changes nothing.
// A record below the stored offset of its partition was delivered again and
// changes nothing at all, the watermark included.
//
// A payment or label may come before the transactions it refers to. It is
// pending, kept with its origin, until its timestep closes or settles; then its
// references are resolved, and it becomes part of the graph or is refused. Only
// transactions of timesteps up to that one count, because which later ones have
// arrived depends on how partitions interleave. What is pending of a timestep
// that never became known is resolved with the next known one.
//
// What this does not cover: the feature count, if it is not configured, is that
// of the first accepted transaction, and which one is first depends on how
// partitions interleave. Configure it.
//
// # On disk
//
//	<dir>/staging/     offsets, watermarks, open timesteps, what is pending
//	<dir>/t000012/     the snapshot of timestep 12, once it is closed
//
// Both kinds are swapstores. A batch of records is one atomic write to staging,
// with the consumed offset. Which timesteps are closed or settled, staging
// alone decides: a timestep store that staging does not list is left from a
// crash and removed. Keys hold pseudonyms; ids stand in values only.
//
// # Concurrency
//
// One goroutine owns a Store. Marks may be used from any.
//
// # Files of the package
//
//	config.go, errors.go    settings and what can go wrong
//	record.go               what is taken: sources, origins, verdicts, refusals
//	info.go                 what is told of a timestep
//	store.go                the Store; with lifecycle, erase, targets, refusals and
//	                        marks, what its owner may ask for
//	lifecycle.go            close and settle a timestep
//	refusals.go             what was refused then, until it is confirmed
//	targets.go              suppress and locate what is erased
//	erase.go                rewrite all stores without the targets; erasestaging.go
//	marks.go                bookkeeping of the owner
//	batch.go                records of one partition, stored together
//	arrival.go, take.go     late or not; what becomes of each record
//	staging.go              the part with open timesteps: its store and its mirror
//	resolve.go              pending payments and labels into graphs or refusals
//	recover.go              staging read from disk, crashes made good
//	storecache.go           the part with closed timesteps: a store of each
//	graphstore.go, meta.go  one of these stores: a graph, labels and shards
//	keys.go, codec.go       keys and values; pending.go: those of pending records
package snapshot
