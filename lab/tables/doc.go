// Package tables holds the tables and figures of the evaluation, those of the
// paper first. A table lists the cells it needs and prints their results: test
// nodes and all nodes apart, mean and standard deviation over the splits, the
// paper's value in brackets beside each. A cell that could not be measured is a
// dash with the reason under the table, never a number.
package tables
