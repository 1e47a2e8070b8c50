// Package measures has the measures of predictions that the service does not need: those of more than
// two classes, the yield of a budget of alerts, and tallies over timesteps.
//
//	confusion.go  counts of true and predicted classes
//	classes.go    measures of several classes
//	budget.go     the yield of a number of alerts
//	tally.go      scores and labels over timesteps
package measures
