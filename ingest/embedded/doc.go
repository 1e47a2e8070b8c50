// Package embedded runs a Kafka broker inside the process, so that lethe needs no installed broker:
// one node of kfake (github.com/twmb/franz-go/pkg/kfake) that stores its log in a directory and
// listens on 127.0.0.1. Clients use it like any broker.
//
// kfake is made for tests, and three of its properties matter for persistent data:
//
//   - Compacting a partition removes its files and then writes the new ones. A
//     process killed in between would lose the partition. Compact therefore
//     keeps hard links to all files until kfake is done, and Start puts them
//     back if it finds them (rescue.go). So does a broker that could not write
//     the new ones, once the disk takes writes again (reopen.go).
//   - Compaction stops the broker while it lasts and rewrites every compacted
//     partition, whether or not anything changed. The cleaner spends a small
//     share of the time on it, and does it where it is worth that (cleaner.go).
//   - A partition that is left without any record starts again at offset 0
//     after a restart. Config turns expiry off, and nothing in lethe deletes
//     the newest record of a partition.
//
// The files:
//
//	broker.go, config.go, logger.go  the broker, its configuration, kfake's log
//	cleaner.go, compact.go           when and how topics are compacted; rescue.go, see above
//	verify.go, segments.go           the log checked before the start, and read as files
//	disk.go, room_*.go, lock_*.go    writes that fail, free space, one broker per folder
//
// Without SyncWrites a record survives the end of the process but not a failure of the machine, as
// with Apache Kafka's defaults on one node.
package embedded
