package openfiles

import "fmt"

// Use describes the file use of a process with all roles.
type Use struct {
	// Partitions is the number of partitions of a busy topic. Each is read over connections of its
	// own.
	Partitions int
	// Embedded is set if the broker runs in the process, which then has both ends of these connections.
	Embedded bool
}

// Connections are the limits of concurrent connections at the embedded broker's port and at the HTTP port.
type Connections struct{ Broker, HTTP int }

// Measured on an idle process with all roles: 227 files that are not connections, 27 connections to brokers and 8
// more for each partition; under load with 4 partitions 448 files in all.
const (
	ownFiles             = 400
	brokerConnections    = 48
	partitionConnections = 10
	// leastClients is the minimum number of client connections for each port, beside lethe's own.
	leastClients      = 32
	mostBrokerClients = 1024
	mostHTTPClients   = 256
)

// own returns the number of lethe's own connections to brokers.
func (u Use) own() uint64 { return uint64(brokerConnections + partitionConnections*u.Partitions) }

// needs returns the minimum limit of open files.
func (u Use) needs() uint64 {
	if u.Embedded {
		return ownFiles + 2*u.own() + 2*leastClients
	}
	return ownFiles + u.own() + leastClients
}

// Unlimited returns the connections for systems without a limit of open files.
func (u Use) Unlimited() Connections {
	return Connections{Broker: int(u.own()) + mostBrokerClients, HTTP: mostHTTPClients}
}

// Within divides a limit of open files. The error is one line for an operator.
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
