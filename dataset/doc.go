// Package dataset reads, writes and generates data sets for lethe: streams in the format of the
// Elliptic Bitcoin data set, and generated streams with laundering typologies.
//
// A stream is three CSV files, as published with Weber et al., "Anti-Money Laundering in Bitcoin" (2019): features (no
// header: id, timestep, values), edges (payments) and classes (1 illicit, 2 licit, unknown). Loading is strict: files
// that are truncated, transposed, swapped or inconsistent are rejected with the file, row and column, because a loader
// that guesses would train on invented data. Error texts give positions, never ids or values: both are personal data.
//
// Loaders, writer and generator are deterministic: the same files, or the same options, give the
// same stream on any number of cores.
//
// # Files
//
// stream.go has the in-memory data set, errors.go its errors. elliptic*.go read a directory, one
// file for each of the three CSV files, with table.go (rows) and field.go (values); write.go writes
// one. generate*.go generate a stream: options, payments, features and ids, with typology.go for
// the laundering schemes. steprange.go parses ranges of timesteps.
package dataset
