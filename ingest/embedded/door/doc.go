// Package door filters the requests from clients to the embedded broker. kfake is a test's broker: it allocates the
// size in a length prefix, ends the process at an unknown request, and stores batches that it cannot read again.
// The door reads each request first and passes only what kfake can handle.
//
//   - listener.go: a bounded number of connections; retries after a lack of file descriptors.
//   - conn.go: one connection: requests in, responses out, in order.
//   - frame.go: one request read within bounds: memory grows only as bytes arrive.
//   - versions.go: the requests that are served, and their versions.
//   - check.go: checks of a request's header and body.
//   - produce.go: checks of batches before they are stored.
//   - topics.go: bounds on partitions, and deletion of topics.
//
// A malformed request closes its connection with one warning, which contains the client's address and the cause
// but no content. A well-formed request that is rejected gets Kafka's error code.
package door
