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
// log. So lateness, as well as what is too far ahead, is decided by the log of one partition alone, not by how
// partitions interleave, batches are cut, or the process is restarted. With a
// lateness of 0, the first record of t+1 ends t for its partition.
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
// Ends of payments and subjects of labels need not be there yet: the record is
// kept with its origin and judged when its timestep closes or settles. It is
// then compared with the transactions of timesteps up to that one only, because
// which later transactions have arrived depends on how partitions interleave.
// Payments and labels of a timestep that never became known are judged with the
// next known one.
//
// What this does not cover: the feature count, if it is not configured, is that
// of the first accepted transaction, and which one is first depends on how
// partitions interleave. Configure it.
//
// # On disk
//
//	<dir>/staging/     offsets, watermarks, open timesteps, what awaits judgement
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
package snapshot
