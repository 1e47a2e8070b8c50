package openfiles

import "fmt"

// Use is what a process with all roles does with its files.
type Use struct {
	// Partitions of a busy topic. Each is read over connections of its own.
	Partitions int
	// Embedded is set where the broker runs in the process, so that it has both ends of these connections.
	Embedded bool
}

// Connections are how many there may be at a time at the embedded broker's port and at HTTP's.
type Connections struct{ Broker, HTTP int }

// Measured on a process with all roles at rest: 227 files that are no connections, and 27 connections to brokers and 8
// more for each partition; at work with 4 partitions 448 files in all.
const (
	ownFiles             = 400
	brokerConnections    = 48
	partitionConnections = 10
	// leastClients are those that each port has room for beside lethe itself.
	leastClients      = 32
	mostBrokerClients = 1024
	mostHTTPClients   = 256
)

// own are the connections to brokers that lethe itself has.
func (u Use) own() uint64 { return uint64(brokerConnections + partitionConnections*u.Partitions) }

// needs is the least limit of open files.
func (u Use) needs() uint64 {
	if u.Embedded {
		return ownFiles + 2*u.own() + 2*leastClients
	}
	return ownFiles + u.own() + leastClients
}

// Unlimited are the connections where files do not limit them.
func (u Use) Unlimited() Connections {
	return Connections{Broker: int(u.own()) + mostBrokerClients, HTTP: mostHTTPClients}
}

// Within shares a limit of open files out. The error is one line for an operator.
func (u Use) Within(limit uint64) (Connections, error) {
	least := u.needs()
	if limit+1 < least { // Go raises the soft limit to one below the hard one
		return Connections{}, fmt.Errorf("the limit of open files is %d, and lethe needs %d with %d partitions: raise it "+
			"with `ulimit -n %d`, LimitNOFILE=%d of systemd, or --ulimit nofile=%d of docker",
			limit, least, u.Partitions, least, least, least)
	}
	spare := max(limit, least) - least
	return Connections{
		Broker: int(u.own() + min(mostBrokerClients, leastClients+spare/2)),
		HTTP:   int(min(mostHTTPClients, leastClients+spare/4)),
	}, nil
}
