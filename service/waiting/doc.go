// Package waiting determines the causes that a deployment waits for: pure functions of facts, which the service
// collects.
//
//   - wait.go defines the causes and the fields of a wait
//   - facts.go defines the facts about a deployment at one moment
//   - find.go derives the conditions from the facts
//   - labels.go derives those of labels
//   - processes.go derives those of processes, erasures and receivers of alerts
//   - rejected.go derives those of rejected records, bounds and clocks
//   - tracker.go tracks the conditions that have held for long enough, and since when
//   - intake.go measures the share of rejected records
package waiting
