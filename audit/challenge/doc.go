// Package challenge lets an auditor check what a deployment has trained, who holds nothing
// of it but a signed checkpoint of its log.
//
// The log (package translog) has the digest of every slice and of every model that was
// trained on them. The auditor draws pairs of a shard and a timestep. The deployment answers
// with a bundle: the log up to the checkpoint, the slices, which hold pseudonyms, and the
// models before. Whoever has the bundle trains the drawn models anew, on any processor, and
// compares them with the digests.
//
// Which pairs are drawn follows from the auditor's seed and the root of the log, so the
// deployment cannot choose them, and the seed is chosen after the log was signed. A bundle
// holds every leaf of the log and no inclusion proofs: a proof shows that a digest was
// committed to once, not that it is the newest, and of no request that it was left out.
//
//	challenge.go  what the auditor asks
//	draw.go       which pairs that is
//	view.go       what the log says: the newest digests, the requests that were carried out
//	requests.go   the requests of the log and what opens their commitments
//	steps.go      the models of a pair, and what each was trained on
//	bundle.go     the answer, and its bytes
//	assemble.go   the answer made by the deployment
//	verify.go     the check of an answer
//	train.go      models trained anew
//	over.go       the meta-model above them learnt anew
//
// The package reads no file and no clock.
package challenge
