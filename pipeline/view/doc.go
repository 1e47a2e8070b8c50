// Package view is the role that keeps what people ask for, so that any process can answer for
// all: it follows the topics that the other roles write and materialises them in a store of its
// own. Nothing in it is the only copy of anything: whoever removes its folder gets it again from
// the topics.
//
//	topic               what becomes of it
//	predictions.v1      the newest prediction of every transaction, and indexes by timestep and score
//	reasons.v1          the reasons of alerts
//	snapshots.v1        who paid whom in a timestep, without features; labels; what was settled
//	slices.v1           how many transactions, payments and stubs a shard holds of a timestep
//	dlq.v1              dead letters, without anything of their records' content
//	receipts.v1, log.v1 receipts as they were signed; the transparency log
//	erasure-status.v1   the status of every request
//	control.v1          the commands of erasures
//
// # Keys
//
// A transaction's name in keys is a keyed hash of its id (nameOf), which is made of the hash that
// commands of erasures carry: so an erasure finds its entries without a search, and a name tells
// nobody which request was about it. Indexes end with ^score and the name, so that what is likely
// comes first, and a page is a scan from where the one before it ended.
//
// # What an erasure does here
//
// From the command that suppresses on, readers are told nothing of the targets. The command that
// purges deletes their entries and has every record that names one of them dropped on arrival.
// Deleting leaves bytes in a log-structured store, so the whole store is written anew if a search
// of its files finds any; then the role says that the places are searched. Before it says so of
// everything, it has read what the topics held when it was asked.
//
//	role.go, logic.go          the role opened; its step function
//	keys.go, codec.go          the store's keys and values
//	predictions.go             predictions and their indexes, and reasons of alerts
//	counts.go                  how many predictions there are, and how their scores drift
//	graphs.go, manifests.go    graphs; manifests, and the labels in them
//	quality.go, tally.go       predictions compared with labels; what a threshold or a budget comes to
//	shards.go, ensembles.go    how timesteps were dealt to shards; the models, as the log has them
//	learnt.go                  when models learnt from a timestep
//	receipts.go                the statuses of erasures; receipts, and the log
//	letters.go                 dead letters
//	erasure.go, hidden.go      commands of erasures; the store written anew
//	hidden.go, feed.go         what readers are not told, and what is sent elsewhere; who waits for changes
//	read.go, readgraph.go, readletters.go  what readers ask
//	check.go                   what a stopped role holds
package view
