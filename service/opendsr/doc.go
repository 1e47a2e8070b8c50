// Package opendsr serves the request interface of OpenDSR 1.0 (formerly OpenGDPR) and 3.0, by which privacy
// tools that a company already has ask a processor of data to erase what it holds of a person, follow
// that, take it back, and are called back at every change.
//
// A request becomes one of lethe's own under the same id, so that status, receipt and log are those of
// any other. Identities of type controller_customer_id are subjects, and others are ignored, which the answer
// says; transactions may be named in the extension of this processor's domain. Nothing of a request is kept
// here but its id, when it came, the kinds of ignored identities and whom to call back.
//
// What the specification leaves open or contradicts itself in: regulation may be left out, as its own
// example does; processor_signature, which would be a signature of a body that holds it, is the header
// X-OpenDSR-Signature alone, as in its examples; a request that lethe rejects is cancelled, for there is
// no other end; the headers and the route of OpenGDPR are served too (section 10.1).
//
//	options.go    what it works with; who signs
//	request.go    what is asked
//	identities.go of whom
//	answer.go     what is answered, signed
//	handler.go    the routes
//	callbacks.go  who is called back, and when
//	state.go      what is on disk
package opendsr
