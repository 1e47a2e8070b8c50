// Package events defines the events inside lethe, for metrics, tests and other listeners, without
// importing any of them.
//
// A component receives a Listener and calls its functions. Events contain counts, durations and
// timesteps, never a transaction id, a pseudonym or a feature: the content of an event may appear
// on a dashboard.
package events
