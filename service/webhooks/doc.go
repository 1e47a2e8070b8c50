// Package webhooks sends alerts to another system: every final prediction of class illicit is posted
// to an address, signed according to Standard Webhooks 1.0, at least once and with an id by which
// duplicates can be detected.
//
// No personal data is stored: the stored state is positions in predictions.v1, up to which everything
// is processed, and those of undelivered alerts. An alert is read from the topic and sent only while
// its transaction is visible to people, which is checked before every try; an erasure waits for a try
// in progress. So an alert that is erased before its delivery is never sent.
//
// Package outbound decides where connections may go.
//
//	options.go     dependencies and settings
//	dispatcher.go  from the topic to the address; retries
//	post.go        one try
//	signature.go   the secret, and signatures
//	state.go       the stored state
package webhooks
