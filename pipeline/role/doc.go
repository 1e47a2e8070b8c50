// Package role says what a role of the pipeline is and runs it. A role's logic is
// a step function over the state in its stores: what arrived, and the time, give
// the next state and what to publish. Everything around it is here, once for all
// roles: following topics from where they were left, putting messages together,
// publishing before noting that it was published, and stopping.
//
//	role.go    a role, to those who run it
//	status.go  what roles know, and how it is put together
//	logic.go   a role's step function, what it takes and gives
//	begin.go   where the topics are opened, and what was not finished is done
//	follow.go  the loop that feeds the logic from topics
//	turns.go   work that publishes as it goes, cut into steps
//	wait.go    waiting for batches, for time, and for work outside of the loop
//	ports.go   what roles need of topics and stores
//	ack.go     the commands of erasures, and their acknowledgements
//	lead.go    who leads a role that one of several processes plays; hot.go, leading or standing by
//	prepare.go what a process reads before it leads
//	epoch.go   epochs of the journal, and which records are late
//	lease.go   what a leader writes as long as it leads; replay.go, how a standby does what the journal says
//	kafka.go   the topics of a Kafka client as roles see them
//
// A logic that is fed the same inputs in the same order comes to the same state
// and publishes the same, whatever implements the ports: package roletest has
// topics and stores in memory.
package role
