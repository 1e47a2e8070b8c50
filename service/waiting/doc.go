// Package waiting computes what a deployment is waiting for: pure functions of facts, which the service
// collects.
//
//   - wait.go has the causes and the fields of a wait
//   - facts.go has what is known of the deployment at one moment
//   - find.go names the conditions that hold then
//   - labels.go names those of labels
//   - processes.go names those of processes, erasures and receivers of alerts
//   - rejected.go names those of records that are rejected, bounds and clocks
//   - tracker.go keeps the conditions that have held for long enough, and since when
//   - intake.go measures which share of the latest records was rejected
package waiting
