// Package challenge lets an auditor check a deployment's training with only a signed checkpoint of
// the deployment's log.
//
// The log (package translog) has the digest of every slice and of every model that was trained on
// them. The auditor draws pairs of a shard and a timestep. The deployment answers with a bundle:
// the log up to the checkpoint, the slices, which hold pseudonyms, and the previous models. With
// the bundle anyone can retrain the drawn models, on any processor, and compare them with the
// digests.
//
// The drawn pairs follow from the auditor's seed and the root of the log, so the deployment cannot
// choose them, and the seed is chosen after the log was signed. A bundle holds every leaf of the
// log and no inclusion proofs: a proof shows that a digest was committed to once, but not that it
// is the newest one, nor that no request was left out.
//
//	challenge.go  the auditor's request
//	draw.go       the drawn pairs
//	view.go       the state of the log: the newest digests, the requests that were carried out
//	requests.go   the requests of the log and the openings of their commitments
//	steps.go      the models of a pair, and their training data
//	bundle.go     the answer, and its bytes
//	assemble.go   the deployment's side: building the answer
//	verify.go     the auditor's side: checking it
//	train.go      retraining of models
//	over.go       relearning of the meta-model
//
// The package uses no files and no clock.
package challenge
