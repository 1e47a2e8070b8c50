// Package embedded runs a Kafka broker inside the process, so that lethe needs no installed broker:
// one node of kfake (github.com/twmb/franz-go/pkg/kfake) that stores its log in a directory and
// listens on 127.0.0.1. Clients use it like any broker.
//
// kfake is made for tests, and three of its properties matter for persistent data:
//
//   - Compacting a partition removes its files and then writes the new ones. A
//     process killed in between would lose the partition. Compact therefore
//     holds hard links to all files until kfake is done, and Start restores the
//     files if it finds them (rescue.go). So does a broker that could not write
//     the new ones, once the disk accepts writes again (reopen.go).
//   - Compaction blocks the broker and rewrites every compacted partition,
//     whether or not anything changed. The cleaner limits its share of the time,
//     and skips compactions that would remove too little (cleaner.go).
//   - A partition without any record restarts at offset 0
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
