// Package bus moves records between lethe and Kafka: topics and their settings, writing,
// reading, consumer groups, payloads larger than a message, and the log operations that
// an erasure needs. It works the same with Apache Kafka and with the embedded broker.
//
// # Writing
//
// Client.Write waits for all in-sync replicas and keeps the order of records that share a
// partition. kafka-go writes without a producer id, so a retry after a lost response may
// store a record twice. Every record of lethe is keyed and idempotent: the second copy
// changes nothing.
//
// # Reading
//
// A Tail reads from offsets that the caller persists together with the state it builds,
// so that each record counts once. Offsets are positions, not counts: compaction removes
// records, and a Tail skips the gaps. Fetching is done by package protocol, because the
// readers of kafka-go hide the end of a compacted batch (Client.Fetch) or go back to
// offset 1 when a log ends in an emptied one (Conn.ReadBatch). Records of aborted
// transactions are left out.
//
// # Keys of control records
//
// A key that starts with '!' belongs to a control record, such as the markers of
// Client.RollMarkers. Every reader of every topic must skip them.
//
//	catalogue.go, rights.go           the topics and their settings; the rights that each principal needs
//	config.go, connect.go, client.go  configuration, connections, the client
//	admin.go, plan.go, apply.go       topics checked, created and repaired
//	state.go, pace.go                 queries of topics and sessions; the settings that decide how fast brokers clean
//	write.go                          writing
//	partition.go, group.go            the partition of a key, the ends of its log; consumer groups
//	tail.go, follow.go, readall.go    reading without end, or once to the end; unreadable ranges
//	chunk.go, assemble.go             payloads larger than a message, in and out
//	errors.go, patience.go            which errors are temporary and retried
//	markers.go                        the log operations that an erasure needs
package bus
