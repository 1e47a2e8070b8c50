package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"syscall"

	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/pipeline/role"
	"lethe/service/supervisor"
)

// The modules that are not roles.
const (
	portModule   = "port"
	brokerModule = "broker"
	topicsModule = "topics"
	sharedModule = "shared settings"
	httpModule   = "http"
)

// roleModule names the module of a role. Erasures are driven by the one of the
// graphs.
func roleModule(role string) string {
	if role == configs.RoleErasure {
		role = configs.RoleGraphs
	}
	return role + " role"
}

// moduleList lists the parts of the process, each after those it needs. The port
// comes first because two processes of one machine may want the same; the pages are
// served last and stop first.
func (s *Service) moduleList() []supervisor.Module {
	list := []supervisor.Module{
		{Name: portModule, Open: s.openPort},
		{Name: brokerModule, Open: s.openBroker},
		{Name: topicsModule, Needs: []string{brokerModule}, Open: s.openTopics},
		{Name: sharedModule, Needs: []string{topicsModule}, Open: s.openShared},
	}
	served := []string{portModule}
	// Score opens before train, which makes a folder for every shard: under
	// another number of shards score refuses, and nothing has been changed.
	for _, r := range []struct {
		name string
		open func(context.Context) (role.Role, error)
	}{{configs.RoleGraphs, s.openGraphs}, {configs.RoleScore, s.openScore}, {configs.RoleTrain, s.openTrain}} {
		list = append(list, supervisor.Module{
			Name: roleModule(r.name), Needs: []string{sharedModule},
			Open: func(ctx context.Context) (supervisor.Process, error) { return s.addRole(r.open(ctx)) },
		})
		if s.config.HasRole(r.name) {
			served = append(served, roleModule(r.name))
		}
	}
	return append(list, supervisor.Module{Name: httpModule, Needs: served, Open: s.openHTTP})
}

// noteHealth tells the health checks the state of the roles.
func (s *Service) noteHealth(module string, state supervisor.State) {
	if module == topicsModule && state == supervisor.Opened {
		s.health.Set(brokerModule, true, "")
	}
	for _, r := range s.config.Plays() {
		switch {
		case roleModule(r) != module:
		case state == supervisor.Running:
			s.health.Set(r, true, "")
		case state == supervisor.Failed:
			s.health.Fail(r, "ended with an error; see the log")
		}
	}
}

// openPort takes the HTTP address.
func (s *Service) openPort(context.Context) (supervisor.Process, error) {
	var err error
	if s.port, err = net.Listen("tcp", s.config.HTTP.Address); err != nil {
		return nil, fmt.Errorf("http.address %s cannot be used: %w "+
			"(is another lethe running? choose another with --http-address)",
			s.config.HTTP.Address, err)
	}
	return supervisor.Resource(func() error {
		if err := s.port.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}), nil
}

// openBroker starts the embedded broker, unless others are named.
func (s *Service) openBroker(context.Context) (supervisor.Process, error) {
	s.bus = s.config.Kafka
	if !s.config.UsesEmbeddedBroker() {
		return supervisor.Resource(nil), nil
	}
	broker, err := embedded.Start(filepath.Join(s.config.DataDir, brokerFolder), s.config.Embedded, s.o.Logger)
	switch {
	case errors.Is(err, embedded.ErrInUse):
		return nil, fmt.Errorf("%w (another lethe runs on this data directory: stop it, or choose another with --data-dir)",
			err)
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w (is another lethe running? choose another port with --set embedded.port=N)", err)
	case err != nil:
		return nil, err
	}
	own := broker.Config()
	s.bus.Brokers, s.bus.ErasureRetention = own.Brokers, own.ErasureRetention
	s.compact = broker.Compact
	return supervisor.Resource(broker.Close), nil
}

// openTopics connects to the brokers and makes sure that the topics are there.
func (s *Service) openTopics(ctx context.Context) (supervisor.Process, error) {
	client, err := bus.Open(s.bus)
	if err != nil {
		return nil, err
	}
	s.client = client
	if err = client.Ping(ctx); err != nil {
		err = fmt.Errorf("%w (start Kafka, or name brokers that are up with --brokers; without them lethe brings its own)",
			err)
	} else if err = client.Admin().Apply(ctx); err != nil {
		err = fmt.Errorf("create the topics: %w", err)
	}
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return supervisor.Resource(client.Close), nil
}

// addRole takes a role that was opened.
func (s *Service) addRole(r role.Role, err error) (supervisor.Process, error) {
	if err != nil {
		return nil, err
	}
	s.roles = append(s.roles, r)
	return r, nil
}
