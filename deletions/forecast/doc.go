// Package forecast estimates the cost of an erasure in advance: the models to retrain, steps and seconds, and whether
// retraining everything would be cheaper. coordinator.Plan determines the changes.
//
//	forecast.go           the result by scope; the checkpoints and steps
//	estimate.go, pace.go  seconds, from recent training and past erasures
package forecast
