package service

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"

	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/metrics/events"
	"lethe/metrics/traces"
	"lethe/pipeline/role"
	"lethe/service/supervisor"
)

// The modules that are not roles.
const (
	httpModule   = "http"
	brokerModule = "broker"
	topicsModule = "topics"
	sharedModule = "shared settings"
	// webhooksModule exists if alerts are posted to a webhook.
	webhooksModule = "webhooks"
	// openDSRModule exists if the OpenDSR interface is enabled.
	openDSRModule = "opendsr"
	// tracesModule exists if spans are exported.
	tracesModule = "traces"
	// keysModule exists if the keys are sealed by a key management system.
	keysModule = "keys"
)

// roleModule names the module of a role. Erasures run in the module of graphs.
func roleModule(role string) string {
	if role == configs.RoleErasure {
		role = configs.RoleGraphs
	}
	return role + " role"
}

// moduleList lists the modules of the process, each after its dependencies. The web server comes
// first because two processes of one machine may want the same port, and because it reports
// progress while the others are opened.
func (s *Service) moduleList() []supervisor.Module {
	list := []supervisor.Module{{Name: httpModule, Open: s.openHTTP}}
	if s.config.KMS.Address != "" {
		list = append(list, supervisor.Module{Name: keysModule, Open: (unsealing{s}).open})
	}
	list = append(list, []supervisor.Module{
		{Name: brokerModule, Open: s.openBroker},
		{Name: topicsModule, Needs: []string{brokerModule}, Open: s.openTopics},
		{Name: sharedModule, Needs: []string{topicsModule}, Open: s.openShared},
	}...)
	shared := sharedModule
	if s.config.Traces.Endpoint != "" {
		shared = tracesModule
		list = append(list, supervisor.Module{Name: tracesModule, Needs: []string{sharedModule}, Open: s.openTraces})
	}
	open := openers{s}
	// Score opens before train, which creates a directory for every shard: score rejects a changed
	// number of shards before anything has been modified.
	for _, r := range []struct {
		name string
		open func(context.Context) (role.Role, error)
	}{
		{configs.RoleGraphs, open.openGraphs}, {configs.RoleScore, open.openScore}, {configs.RoleTrain, open.openTrain},
		{configs.RoleView, open.openView},
	} {
		if s.config.HasRole(r.name) {
			list = append(list, supervisor.Module{
				Name: roleModule(r.name), Needs: []string{shared},
				Open: func(ctx context.Context) (supervisor.Process, error) { return s.addRole(ctx, r.name, r.open) },
			})
		}
	}
	view := []string{roleModule(configs.RoleView)}
	if s.config.Webhooks.URL != "" {
		list = append(list, supervisor.Module{Name: webhooksModule, Needs: view, Open: open.openWebhooks})
	}
	if s.config.OpenDSR.Enabled() {
		list = append(list, supervisor.Module{Name: openDSRModule, Needs: view, Open: open.openOpenDSR})
	}
	return list
}

// noteHealth reports the state of the roles to the health checks.
func (s *Service) noteHealth(module string, state supervisor.State) {
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

// openBroker locks the data directory before the process announces itself, and starts the embedded broker
// unless external brokers are configured.
func (s *Service) openBroker(context.Context) (_ supervisor.Process, err error) {
	s.bus = s.config.Kafka
	lock, err := embedded.LockDir(s.config.DataDir)
	if errors.Is(err, embedded.ErrInUse) {
		return nil, fmt.Errorf("data directory %s: %w (another lethe runs on it: stop it, or choose another with --data-dir)",
			s.config.DataDir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("data directory %s: lock: %w", s.config.DataDir, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Close())
		}
	}()
	if !s.config.UsesEmbeddedBroker() {
		return supervisor.Resource(lock.Close), nil
	}
	broker, err := embedded.Start(BrokerDir(s.config.DataDir), s.config.Embedded, s.o.Logger)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w (is another lethe running? choose another port with --set embedded.port=N)", err)
	case err != nil:
		return nil, err
	}
	own := broker.Config()
	s.bus.Brokers, s.bus.ErasureRetention = own.Brokers, own.ErasureRetention
	s.compact, s.broker = broker.Compact, broker
	return supervisor.Resource(func() error { return errors.Join(broker.Close(), lock.Close()) }), nil
}

// openTopics connects to the brokers and ensures that the topics exist. It waits for brokers
// without limit.
func (s *Service) openTopics(ctx context.Context) (_ supervisor.Process, err error) {
	if s.client, err = bus.Open(s.bus); err != nil {
		return nil, err
	}
	if s.patient, err = bus.OpenPatient(s.bus, s.outages.watch); err != nil {
		return nil, errors.Join(err, s.client.Close())
	}
	if err = (topicWatch{s}).sameTopics(); err == nil {
		err = s.awaitBrokers(ctx)
	}
	if err == nil {
		err = (topicWatch{s}).begin(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.client.Close(), s.patient.Close())
	}
	if err = (sealing{s}).begin(); err != nil {
		return nil, errors.Join(err, s.client.Close(), s.patient.Close())
	}
	return &topicsProcess{s}, nil
}

// addRole opens a role and adds it to the service.
func (s *Service) addRole(
	ctx context.Context, name string, open func(context.Context) (role.Role, error),
) (supervisor.Process, error) {
	r, err := open(ctx)
	if err != nil {
		return nil, Remedied(err, s.config.DataDir, name)
	}
	s.roles = append(s.roles, r)
	return roleProcess{r, s.config.DataDir, name, s.patience}, nil
}

// openTraces adds the export of spans to the listener, for the roles that are opened later. Spans are named
// with the secret, which has been compared with other processes by now.
func (s *Service) openTraces(ctx context.Context) (supervisor.Process, error) {
	t, err := traces.Start(ctx, traces.Options{
		Endpoint: s.config.Traces.Endpoint, Secret: s.secret, Version: s.o.Version, Instance: s.instance,
		Random: rand.NewPCG(rand.Uint64(), rand.Uint64()), Now: s.o.Now, Logger: s.o.Logger,
	})
	if err != nil {
		return nil, err
	}
	s.listener = events.Tee(s.listener, t.Listener())
	s.sampler = events.NewSampler(s.secret, s.config.Traces.Transactions)
	return supervisor.Resource(t.Close), nil
}
