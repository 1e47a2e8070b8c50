package service

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lethe/configs"
	"lethe/deletions/coordinator"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/secretfile"
	"lethe/pipeline/graphs"
	"lethe/pipeline/role"
	"lethe/pipeline/score"
	"lethe/pipeline/train"
	"lethe/pipeline/view"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/scoring/reasons"
	"lethe/service/supervisor"
	"lethe/service/webhooks"
)

// gatherTransactions is how long transactions are batched before they are added to graphs, because
// every batch needs a synchronised write.
const gatherTransactions = 25 * time.Millisecond

// openers open the roles of a service.
type openers struct{ *Service }

// topicsOf are the topics in the form that roles use. gather is the batching delay by topic.
func topicsOf(s *Service, gather bus.Gathering) role.Kafka {
	return role.Kafka{Client: s.patient, Gather: gather, Missed: s.outages.missed}
}

// surroundings are the dependencies of a role.
func (s openers) surroundings(name string) role.Surroundings {
	around := role.Around(topicsOf(s.Service, nil), s.listener, s.o.Logger)
	around.First, around.Run = &s.first, s.run
	around.FS, around.Clock, around.Sampler = RemediedFS(s.disk, s.config.DataDir, name), s.o.Now, s.sampler
	return around
}

func (s openers) openGraphs(ctx context.Context) (role.Role, error) {
	handover := new(graphs.Handover)
	s.plans.questions = graphs.NewQuestions()
	return s.hot(ctx, configs.RoleGraphs, func(ctx context.Context, as *role.Standing) (*role.Follower, error) {
		return s.openGraphsAs(ctx, as, handover)
	})
}

// fencedTopics are the topics to which a process writes only while it leads.
type fencedTopics struct {
	role.Kafka
	as *role.Standing
}

// Write implements role.Bus.
func (f fencedTopics) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	return f.as.Write(ctx, f.Kafka, t, records)
}

func (s openers) openGraphsAs(
	ctx context.Context, as *role.Standing, handover *graphs.Handover,
) (*role.Follower, error) {
	c := s.config
	erasure := c.Erasure.Config
	erasure.SigningKey, erasure.KernelSet, erasure.Authority = s.key, s.kernels.Name, s.authority
	var err error
	if erasure.KeyBefore, err = configs.KeysOf(c).Before(ctx); err != nil {
		return nil, err
	}
	erasure.Deployment = s.secret.Deployment(c.Kafka.TopicPrefix)
	o := graphs.Options{
		Questions: s.plans.questions,
		FS:        RemediedFS(s.disk, c.DataDir, configs.RoleGraphs), Patience: s.patience,
		Dir: RoleDir(c.DataDir, configs.RoleBuild), ReceiptsDir: ReceiptsDir(c.DataDir),
		Snapshot: c.Ingest.Config, Limits: c.Ingest.Records, Partition: c.PartitionConfig(), Repair: c.RepairConfig(),
		Secret: s.secret, Version: s.o.Version, Compact: s.compact, Pacer: s.pacer,
		Erasure: erasure, Workers: c.Workers(),
		Beside: func(search func()) { go search() }, First: &s.first, PartitionsHold: topicWatch(s).partitionsHold,
		Bus:      topicsOf(s.Service, bus.Gathering{bus.Transactions: gatherTransactions}),
		Clock:    coordinator.WallClock{Time: s.o.Now},
		Listener: s.listener, Sampler: s.sampler, Logger: s.o.Logger,
	}
	if c.UsesEmbeddedBroker() {
		o.BrokerDir = BrokerDir(c.DataDir)
		o.Log = embeddedLog{s.broker, s.patient.Name}
	}
	if as != nil {
		o.Instance, o.Run = s.instance, s.run
		if !as.StandsBy() {
			o.Bus = fencedTopics{topicsOf(s.Service, bus.Gathering{bus.Transactions: gatherTransactions}), as}
		}
	}
	opened, err := graphs.As(ctx, o, as, handover)
	if err == nil && erasure.KeyBefore != nil && !erasure.KeyBefore.Equal(s.key) && !as.StandsBy() {
		// It has introduced the new key. If that was installed after the process read its keys, the next start
		// introduces it.
		err = configs.ForgetKeyBefore(c.SigningKeyPath())
	}
	return opened, err
}

// models returns the layout of the models, and the configuration of the meta-model over them, nil
// if there is none.
func models(c configs.Config) (ensemble.Layout, *meta.Config, error) {
	layout, err := c.Layout()
	over, overErr := c.MetaConfig()
	return layout, over, errors.Join(err, overErr)
}

// sharing are the roles that a process shares with others, or takes over from them. There are none
// if the broker is embedded, because it ends with the process.
func sharing(c configs.Config) []string {
	if c.UsesEmbeddedBroker() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Plays()), func(role string) bool { return !c.HasRole(role) })
}

// others reports whether other data directories share a role with this one.
func (p *shared) others(role string) bool {
	return slices.ContainsFunc(p.members.Of(role), func(identity string) bool { return identity != p.register.identity })
}

// hot opens a role that runs in one of several processes at a time.
func (s openers) hot(
	ctx context.Context, name string, open func(context.Context, *role.Standing) (*role.Follower, error),
) (role.Role, error) {
	if !slices.Contains(sharing(s.config), name) {
		return open(ctx, nil)
	}
	lead := role.NewLead(name, s.instance, bus.Sharer{Client: s.patient}, time.Now, s.o.Logger)
	return role.Hot(ctx, name, lead, open)
}

func (s openers) openScore(ctx context.Context) (role.Role, error) {
	return s.hot(ctx, configs.RoleScore, s.openScoreAs)
}

func (s openers) openScoreAs(ctx context.Context, as *role.Standing) (*role.Follower, error) {
	c := s.config
	around := s.surroundings(configs.RoleScore)
	around.Bus, around.Standing = as.Fenced(around.Bus), as
	layout, over, err := models(c)
	if err != nil {
		return nil, err
	}
	names, err := featureNames(c.Scoring.FeatureNames)
	if err != nil {
		return nil, err
	}
	return score.New(ctx, score.Options{
		Dir: RoleDir(c.DataDir, configs.RoleScore), Layout: layout, Meta: over, Workers: c.Workers(),
		Scoring: c.Scoring, Limits: c.Ingest.Records, OneHop: c.RepairConfig().OneHop,
		FirstTimestep: c.Ingest.FirstTimestep, MaxTimestepJump: c.Ingest.MaxTimestepJump,
		Kernels: s.kernels, FeatureNames: names, Secret: s.secret, Instance: s.instance, Pacer: s.pacer,
		ReasonsBeside: true, Surroundings: around,
	})
}

// featureNames reads the names of features for reasons; none without a file.
func featureNames(path string) (names []string, err error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err == nil {
		names, err = reasons.ReadNames(f)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("scoring.feature_names: %w", err)
	}
	return names, nil
}

func (s openers) openTrain(context.Context) (role.Role, error) {
	c := s.config
	layout, over, err := models(c)
	if err != nil {
		return nil, err
	}
	o := train.Options{
		Dir: RoleDir(c.DataDir, configs.RoleTrain), Layout: layout, Meta: over, Workers: c.Workers(),
		Kernels: s.kernels, Secret: s.secret, Instance: s.instance, Pacer: s.pacer,
		Surroundings: s.surroundings(configs.RoleTrain),
	}
	if slices.Contains(sharing(c), configs.RoleTrain) {
		o.Sharer = bus.Sharer{Client: s.patient}
	}
	return train.New(o)
}

func (s openers) openView(context.Context) (role.Role, error) {
	opened, reader, err := view.New(view.Options{
		Dir: RoleDir(s.config.DataDir, configs.RoleView), Secret: s.secret, Instance: s.instance, Pacer: s.pacer,
		Names: s.config.Ingest.Records.Normalise, Surroundings: s.surroundings(configs.RoleView),
	})
	if err != nil {
		return nil, err
	}
	s.view.Store(reader)
	return opened, nil
}

// WebhooksPath is the file of a data directory with the state of webhooks: positions, without the
// content of alerts.
func WebhooksPath(dataDir string) string { return filepath.Join(dataDir, "webhooks", "state.json") }

// openWebhooks starts posting alerts.
func (s openers) openWebhooks(ctx context.Context) (supervisor.Process, error) {
	c := s.config.Webhooks
	text, err := secretfile.ReadLine(c.SecretFile)
	if err != nil {
		return nil, fmt.Errorf("webhooks.secret_file: %w", err)
	}
	secret, err := webhooks.ParseSecret(text)
	if err != nil {
		return nil, fmt.Errorf("webhooks.secret_file %s: %w", c.SecretFile, err)
	}
	return webhooks.New(ctx, webhooks.Options{
		URL: c.URL, Secret: secret, AllowPrivate: c.AllowPrivate,
		Tries: c.Tries, FirstWait: c.FirstWait, LongestWait: c.LongestWait, Timeout: c.Timeout,
		StatePath: WebhooksPath(s.config.DataDir), Topics: topicsOf(s.Service, bus.Gathering{}),
		Alerts: s.view.Load(), Now: s.o.Now, Random: rand.Float64, Listener: s.listener, Logger: s.o.Logger,
	})
}
