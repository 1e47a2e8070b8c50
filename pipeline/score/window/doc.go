// Package window holds in memory what has arrived of timesteps that are not closed
// yet, and says which transactions wait for a provisional score and what surrounds
// them.
//
// A transaction waits when it arrives, when it is replaced, when a payment of its own
// is whole, which takes both ends, and when a neighbour is replaced or forgotten. Next
// hands out a pass: waiting transactions of one timestep with the graph that is needed
// to score them. Those that arrived come before those that are scored again, so that
// under load it is the second scores that wait, and of several that one waits for it
// gets one.
//
// Nothing here is on disk. What closes, and what is suppressed, is forgotten at once. The
// window does not know all that the graphs refuse. What had arrived, and is in no graph
// when its timestep closes, is said then.
//
//   - window.go: what is taken and forgotten; redact.go: features that become 0
//   - place.go: one transaction, or one end of a payment
//   - pass.go: who is scored next, and its graph
package window
