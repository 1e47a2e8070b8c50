package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics"
	"lethe/metrics/events"
	"lethe/service/waiting"
)

const (
	// probeInterval is how often a broker is probed, probeLimit the timeout of a probe.
	probeInterval = 2 * time.Second
	probeLimit    = 3 * time.Second
	// probesPerCheck is the number of probes between checks of the topics.
	probesPerCheck = 3
	// remindInterval is how often the log repeats that an outage lasts.
	remindInterval = 30 * time.Second
	// mostShown is how many lasting faults, and how many of topics, the health checks list: the first ones.
	mostShown = 10
)

// outages tracks outages and unreadable data, and reports them to the health checks, the metrics
// and the log. It is safe for concurrent use.
type outages struct {
	health *metrics.Health
	sink   events.Listener
	log    *slog.Logger

	mu sync.Mutex
	// brokers are the unavailable topics and partitions, disk the paths that cannot be written.
	brokers, disk outage
	// lasting are faults that remain until an operator acts, in the order in which they were
	// found.
	lasting []fault
	// wrong lists differences of the topics from their required configuration.
	wrong []string
	// warnings are differences that lethe can run with.
	warnings []string
}

func newOutages(health *metrics.Health, listener events.Listener, log *slog.Logger) *outages {
	o := &outages{
		health: health, sink: events.Tee(listener), log: log,
		brokers: outage{places: make(map[string]string)}, disk: outage{places: make(map[string]string)},
	}
	o.publishDisk()
	return o
}

// watch is a bus.Watch.
func (o *outages) watch(place string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	past := errors.Is(err, bus.ErrPastEnd)
	if past {
		o.lasts(place, "past_end", err.Error())
	}
	if err == nil || past || errors.Is(err, bus.ErrAbandoned) {
		if after, over := o.brokers.end(place); over && err == nil {
			o.log.Info("brokers serve everything again", "after", after)
		}
	} else if o.brokers.add(place, err) {
		o.log.Warn("waiting for brokers", "what", place, "and_more", len(o.brokers.places)-1, "error", err)
	}
	o.publish()
}

// outage has the places that are unavailable, with the reasons.
type outage struct {
	places map[string]string
	// since is when the first of them became unavailable, logged the time of the last log message.
	since, logged time.Time
}

// add adds a place, and reports whether the log should name it now.
func (o *outage) add(place string, err error) (due bool) {
	now := time.Now()
	if len(o.places) == 0 {
		o.since, o.logged = now, time.Time{}
	}
	o.places[place] = err.Error()
	if due = now.Sub(o.logged) >= remindInterval; due {
		o.logged = now
	}
	return due
}

// end removes a place, and reports whether that was the last one, and how long the outage took.
func (o *outage) end(place string) (after time.Duration, over bool) {
	waited := len(o.places) > 0
	delete(o.places, place)
	return time.Since(o.since).Round(time.Millisecond), waited && len(o.places) == 0
}

// publish reports all faults to the health checks and metrics: lasting ones, differences of topics, and
// outages. None of them hides the others. The caller holds mu.
func (o *outages) publish() {
	var texts []string
	for _, f := range o.lasting[:min(len(o.lasting), mostShown)] {
		texts = append(texts, f.String())
	}
	if more := len(o.lasting) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("%d more, which the log names", more))
	}
	if len(o.wrong) > 0 {
		texts = append(texts, fmt.Sprintf("%s (%d in all; lethe topics plan says what mends it)",
			strings.Join(o.wrong[:min(len(o.wrong), mostShown)], "; "), len(o.wrong)))
	}
	if place, why := waiting.First(o.brokers.places); place != "" {
		texts = append(texts, fmt.Sprintf("%d waited for; %s: %s", len(o.brokers.places), place, why))
	}
	o.health.Set(topicsModule, len(texts) == 0, strings.Join(texts, "; "))
	o.sink(events.OutageChanged{Places: len(o.brokers.places), Problems: len(o.wrong) + len(o.lasting)})
}

// fault is a problem that remains until the process ends. There is one of each kind for each topic or
// partition, so that they are few, and a fault does not replace one with a different remedy.
type fault struct {
	place, kind string
	// why is the first reason for this kind and place, last the latest one.
	why, last string
}

func (f fault) String() string {
	if f.last == f.why {
		return f.place + ": " + f.why
	}
	return f.place + ": " + f.why + " (and more there, which the log names)"
}

// lastingly records a fault at a place that remains until the process ends.
func (o *outages) lastingly(place, kind, why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lasts(place, kind, why)
}

// lasts is lastingly for a caller that holds mu.
func (o *outages) lasts(place, kind, why string) {
	if o.note(place, kind, why) {
		o.log.Error("something lasting is wrong", "what", place, "error", why)
	}
}

// lastinglyOnce is lastingly for faults that may occur for many records of a place: only the first
// is logged.
func (o *outages) lastinglyOnce(place, kind, why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if slices.ContainsFunc(o.lasting, func(f fault) bool { return f.place == place && f.kind == kind }) {
		return
	}
	o.note(place, kind, why)
	o.log.Error("something lasting is wrong", "what", place, "error", why)
}

// note stores and reports a fault, and reports whether it differs from the last one in the log. The caller holds
// mu.
func (o *outages) note(place, kind, why string) (news bool) {
	defer o.publish()
	for i := range o.lasting {
		if f := &o.lasting[i]; f.place == place && f.kind == kind {
			news = f.last != why
			f.last = why
			return news
		}
	}
	o.lasting = append(o.lasting, fault{place, kind, why, why})
	return true
}

// listener makes the service unready after records were missed: an operator has to check.
func (o *outages) listener() events.Listener {
	return events.On(func(e events.RecordsMissed) {
		o.mu.Lock()
		defer o.mu.Unlock()
		// The role has logged it.
		place, why := missing(&bus.Gap{
			Topic: e.Topic, Partition: e.Partition, From: e.From, To: e.To, Reason: ingest.Reason(e.Reason),
		})
		o.note(place, e.Reason, why)
	})
}

func (o *outages) missed(gap *bus.Gap) {
	place, why := missing(gap)
	o.lastingly(place, string(gap.Reason), why)
}

func missing(gap *bus.Gap) (place, why string) {
	return fmt.Sprintf("%s/%d", gap.Topic, gap.Partition),
		fmt.Sprintf("offsets %d to %d were not read and never will be: %s", gap.From, gap.To-1, gap.Reason)
}

// probed records whether brokers responded.
func (o *outages) probed(err error) {
	o.sink(events.BrokersProbed{Reachable: err == nil})
	if err == nil {
		o.health.Set(brokerModule, true, "")
		return
	}
	o.health.Set(brokerModule, false, err.Error())
}

// awaitBrokers waits until brokers respond, and applies the topics.
func (s *Service) awaitBrokers(ctx context.Context) error {
	for {
		err := s.client.Ping(ctx)
		s.outages.probed(err)
		if err == nil {
			err = s.client.Admin().Apply(ctx)
		}
		if err == nil {
			err = s.client.Admin().HasRights(ctx)
		}
		if err == nil {
			s.partitions, err = s.client.Admin().Partitions(ctx)
		}
		switch {
		case err == nil:
			s.outages.watch("brokers", nil)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, bus.ErrRefused), errors.Is(err, bus.ErrDenied):
			return err
		case !bus.MayPass(err):
			return fmt.Errorf("create the topics: %w", err)
		}
		if !s.config.UsesEmbeddedBroker() {
			err = fmt.Errorf("%w (start Kafka, or name brokers that are up with --brokers; "+
				"without them lethe brings its own)", err)
		}
		s.outages.watch("brokers", err)
		select {
		case <-time.After(probeInterval):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// topicsProcess is the connection to the brokers.
type topicsProcess struct{ *Service }

// Run implements supervisor.Process: it probes the brokers.
func (p *topicsProcess) Run(ctx context.Context) error {
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	for probes := 0; ; probes++ {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		asking, cancel := context.WithTimeout(ctx, probeLimit)
		err := p.client.Ping(asking)
		cancel()
		if ctx.Err() == nil {
			p.outages.probed(err)
		}
		if err == nil {
			topicWatch{p.Service}.partitionsHold(ctx)
			if probes%probesPerCheck == 0 {
				checking, cancel := context.WithTimeout(ctx, probeLimit)
				topicWatch{p.Service}.look(checking)
				cancel()
			}
		}
		p.brokerWrites()
		p.lookAtWaits(ctx, err == nil && probes%probesPerOffsets == 0)
	}
}

// Close implements supervisor.Process.
func (p *topicsProcess) Close() error { return errors.Join(p.client.Close(), p.patient.Close()) }
