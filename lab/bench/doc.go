// Package bench runs the measurements that the tables of the evaluation consist
// of. A measurement is a Cell: a data set and all settings that reach a figure.
// Finished cells are kept in a file of JSON lines under a digest of the cell, the
// data set's bytes and the kernel set, so that a run that was interrupted goes
// on where it ended and two tables share what they have in common.
//
//   - cell.go and attack.go define cells, whose JSON text is their key: a field that
//     changes its name or its default makes kept cells be measured again
//   - data.go finds and loads data sets
//   - runner.go and measure.go measure the cells that the store does not hold
//   - store.go keeps results
package bench
