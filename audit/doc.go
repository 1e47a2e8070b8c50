// Package audit checks a data directory from outside the roles: that its graphs,
// slices, checkpoints and served ensemble belong together, that nothing of an
// erased record is left in its files, and, if asked, that every checkpoint is
// what training its slices from fresh weights gives, byte for byte.
//
// It opens the stores itself, so no role may be running on the directory.
package audit
