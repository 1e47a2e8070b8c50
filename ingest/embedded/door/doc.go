// Package door stands between clients and the embedded broker, which was written for tests and trusts what it reads:
// an unknown request ends its process, a length prefix allocates as much as it claims, and a record that claims more
// bytes than its batch has ends the next compaction and every later start.
//
// Listen wraps the broker's listener. The broker then reads only requests that were received as a whole, are known, can
// be parsed, and hold only batches whose records can be walked to their end. A request that the broker must not
// process is answered here with an error code of the protocol where the client can act on one; otherwise the connection
// is closed, and a line is logged at a limited rate.
//
// # Files
//
// listener.go accepts and bounds connections, conn.go receives requests, request.go checks them, answer.go refuses
// those that are well formed.
package door
