// Package protocol makes the requests that kafka-go does not support, or whose responses it reads
// incompletely: Fetch, ListOffsets of one leader epoch, and Metadata with these
// epochs. The messages are franz-go's kmsg; the connections are those of a kafka-go transport,
// which dials, encrypts, authenticates and finds the leader.
//
//   - call.go: a message of kmsg as one of kafka-go, for the leader of a
//     partition.
//   - fetch.go: reading one partition, committed records only.
//   - recordbatch.go: decoding of the batches in a fetch; record.go: that of one
//     record; inflate.go: decompression within bounds; eachrecord.go: records of a file.
//   - walk.go: checks of batches by lengths only, before they are stored and before a log is opened.
//   - damage.go: ranges that cannot be read.
//   - logrange.go: begin and end of a log, according to the leader of an epoch;
//     leaderepochs.go: the current epoch according to a broker.
//
// Responses of brokers are not trusted to be well formed: no size in a response makes the reader
// allocate more memory than a small multiple of the response's length.
package protocol
