// Package bus moves records between lethe and Kafka: the topics and their
// settings, writing, reading, groups that share work, payloads larger than a
// message, and what an erasure needs of a log. It works the same with Apache
// Kafka and with the embedded broker.
//
// # Writing
//
// Client.Write waits for all in-sync replicas and keeps the order of records
// that share a partition. kafka-go writes without a producer id, so a write
// that is tried again after a lost answer may store a record twice. Every
// record of lethe is keyed and repeatable: the second copy changes nothing.
//
// # Reading
//
// A Tail reads from offsets that the caller keeps together with the state it
// builds, which makes each record count once. Offsets are positions, not
// counts: compaction removes records, and a Tail steps over the gaps.
// Fetching is done by package protocol, because the readers of kafka-go hide the
// end of a compacted batch (Client.Fetch) or go back to offset 1 when a log ends
// in an emptied one (Conn.ReadBatch). Records of aborted transactions are left
// out.
//
// # Keys of control records
//
// A key that starts with '!' belongs to a control record, such as the markers
// of Client.RollMarkers. Every reader of every topic must pass over them.
//
//	catalogue.go, rights.go           the topics and their settings; who needs what of them
//	config.go, connect.go, client.go  where the brokers are, connections, the client
//	admin.go, plan.go, apply.go       topics checked, created and repaired
//	state.go, pace.go                 what a broker tells of topics and of sessions, and of how fast it cleans
//	write.go, retry.go                writing
//	partition.go, group.go            the partition of a key, where its log begins and ends; who has which
//	tail.go, follow.go, readall.go    reading on and on, or once to the end; what cannot be read
//	chunk.go, assemble.go             payloads larger than a message, in and out
//	errors.go, patience.go            which errors may pass and are waited for
//	markers.go                        what an erasure needs of a log
package bus
