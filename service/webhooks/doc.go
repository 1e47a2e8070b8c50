// Package webhooks tells another system of alerts: every final prediction of class illicit is posted
// to an address, signed as Standard Webhooks 1.0 has it, at least once and under an id by which a
// repeat can be told.
//
// Nothing personal is kept: what is on disk are positions in predictions.v1, those up to which all is
// dealt with and those of alerts that were not delivered. An alert is read from the topic and sent
// only while its transaction is shown to people, which is asked again before every try; an erasure
// waits for what is on its way. So what is erased before it was delivered is never sent.
//
// Where connections may go is package outbound's to say.
//
//	options.go     what it works with
//	dispatcher.go  from the topic to the address; tries and waits
//	post.go        one try
//	signature.go   the secret, and signatures
//	state.go       what is on disk
package webhooks
