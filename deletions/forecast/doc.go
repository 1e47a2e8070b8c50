// Package forecast says before an erasure what it would cost: which models would be trained
// anew, in how many steps and seconds, and whether training everything anew would be cheaper.
//
//   - forecast.go: the answer, scope by scope
//   - work.go: the checkpoints and steps that replaced slices take
//   - pace.go: how long training took lately
//   - estimate.go: seconds, from the pace and from the stages of erasures of before
//   - line.go: what a stage takes for so much work, learnt from what it took
//
// What an erasure would change is told by whoever holds the graphs (coordinator.Plan).
package forecast
