// Package role defines and runs the roles of the pipeline. A role's logic is a step function over its stores: input
// and time give the next state and output. This package does the rest for all roles: it resumes topics, assembles
// messages, publishes before it persists, and stops.
//
//	role.go    the interface of a role
//	status.go  the status of roles, and merging it
//	logic.go   the interface of a logic: input and output of a step
//	begin.go   opening topics and completing unfinished work
//	follow.go  the loop that feeds the logic from topics
//	turns.go   coroutines that publish, as steps
//	wait.go    waiting for batches, ticks and wake-ups
//	ports.go   the interfaces of topics and stores
//	ack.go     commands of erasures, and their acknowledgements
//	lead.go    leader election; hot.go, opening a role as leader or standby
//	prepare.go reading before taking over
//	epoch.go   epochs of the journal; late records
//	lease.go   writing while the process leads; replay.go, applying the journal in a standby
//	kafka.go   a Kafka client as topics
//
// The same inputs in the same order give the same state and output, whatever implements the interfaces: package
// roletest has topics and stores in memory.
package role
