// Package tables holds the tables and figures of the evaluation, those of the
// paper first. A table lists the cells it needs and prints their results: test
// nodes and all nodes apart, mean and standard deviation over the splits, the
// paper's value in brackets beside each. A cell that could not be measured is a
// dash with the reason under the table, never a number.
//
//   - table.go has the list of tables and what they are made with, write.go the files
//   - methods.go and models.go say how the rows and columns of tables are trained
//   - grid.go and accuracy.go make the accuracy tables, scores.go their normalised
//     scores, reference.go and ablation.go those beside another program and choices
//   - partitions.go, sizes.go and shard_number.go are about partitions
//   - streams.go, stream_rows.go and stream_figures.go are about fraud detection
//   - unlearning.go and membership.go are about erasures and what they leave
package tables
