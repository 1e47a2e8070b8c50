// Package events names what happens inside lethe, for metrics, tests and
// other listeners, without importing any of them.
//
// A component takes a Listener and calls its functions. Events carry counts,
// durations and timesteps, never a transaction id, a pseudonym or a feature:
// whatever is in an event may end up on a dashboard.
package events
