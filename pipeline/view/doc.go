// Package view is the role that stores the data of the API, so that any process can answer for all. It consumes other
// roles' topics and has no data of its own: a removed folder is rebuilt.
//
//	topic               what is stored
//	predictions.v1      the newest prediction of every transaction, indexed by timestep and score
//	reasons.v1          the reasons of alerts
//	snapshots.v1        payments and labels by timestep, without features
//	slices.v1           slices in numbers
//	dlq.v1              dead letters without their records' content
//	receipts.v1, log.v1 signed receipts; the transparency log
//	erasure-status.v1   the status of every request
//	control.v1          the commands of erasures
//
// # Keys
//
// A transaction's name in keys is a hash of the keyed hash in commands: an erasure finds its entries without a search,
// and a name does not reveal its request. Indexes end with ^score and name, so that a page is a scan by descending
// score.
//
// # Erasures
//
// From the suppressing command on, readers do not see the targets. The purging command deletes their entries, and
// records that name them are dropped. The store is rewritten if a search of its files still finds deleted bytes. The
// final search is acknowledged once everything that the topics held at the command has been read.
package view
