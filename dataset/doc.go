// Package dataset reads, writes and makes the data that lethe is tried on:
// streams in the format of the Elliptic Bitcoin data set, and generated streams
// with laundering typologies.
//
// A stream is three CSV files, as published with Weber et al., "Anti-Money
// Laundering in Bitcoin" (2019): features (no header: id, timestep, values),
// edges (payments) and classes (1 illicit, 2 licit, unknown). Loading is
// strict: files that were cut short, transposed, swapped or edited into
// disagreement are refused with the file, row and column, because a loader that
// guesses would train on data nobody has. Error texts name places, never ids or
// values: both are personal data.
//
// Loaders, writer and generator are pure in what they return: the same files,
// or the same options, give the same stream on any number of cores.
//
// # Files
//
// stream.go has what a data set is in memory, errors.go what can be wrong with it.
// elliptic*.go read a folder, one file for each of the three CSV files, with
// table.go (rows) and field.go (values); write.go writes one. generate*.go make a
// stream: options, payments, features and ids, with typology.go for the shapes of
// laundering. steprange.go reads ranges of timesteps.
package dataset
