// Package opendsr serves the request interface of OpenDSR 1.0 (formerly OpenGDPR) and 3.0. Existing privacy
// tools of a company use it to request the erasure of a person's data from a processor, follow or cancel
// the request, and receive a callback at every change.
//
// A request becomes one of lethe's own with the same id, so that status, receipt and log are the same as for
// any other. Identities of type controller_customer_id are subjects, and others are ignored, which the
// response lists; transactions may be named in the extension of this processor's domain. Of a request only
// its id, the time of receipt, the kinds of ignored identities and the callback addresses are stored here.
//
// Interpretations where the specification is ambiguous or contradictory: regulation may be left out, as
// in its own example; processor_signature, which would be a signature of a body that contains it, is
// only the header X-OpenDSR-Signature, as in its examples; a request that lethe rejects is reported as
// cancelled, because there is no other final status; the headers and the route of OpenGDPR are served
// too (section 10.1).
//
//	options.go    dependencies; the signer
//	request.go    parsing of requests
//	identities.go parsing of identities
//	answer.go     signed responses
//	handler.go    the routes
//	callbacks.go  callbacks and their schedule
//	state.go      the stored state
package opendsr
