package score

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/metrics/events"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/score/background"
	"lethe/pipeline/score/published"
)

// explainTogether bounds the alerts of a job: its work is lost if the graph changes meanwhile.
const explainTogether = 64

// explaining makes reasons beside the loop, so that no prediction waits for them.
type explaining struct {
	o          Options
	state      *state
	background *background.Runner[explanation]
	// at is the timestep of the current job.
	at lethe.Timestep
	// predictor has its own programs, because it is used beside the loop.
	predictor predictor
	// decide appends to the journal.
	decide func(ctx context.Context, what journal.Decision) error
	// onTopic are the transactions with reasons on reasons.v1, by timestep, once the leader has read them.
	onTopic map[lethe.Timestep][]lethe.Pseudonym
	// pending counts the alerts that wait for their reasons, by timestep.
	pending map[lethe.Timestep]int
}

func newExplaining(o Options, s *state) (e explaining, err error) {
	e = explaining{o: o, state: s, background: background.New[explanation](), pending: make(map[lethe.Timestep]int)}
	if e.predictor, err = newPredictor(o); err != nil {
		return e, err
	}
	return e, e.load()
}

// explanation is the result of a job.
type explanation struct {
	timestep lethe.Timestep
	records  []ingest.Outgoing
	// after are the alerts once the records are published.
	after explained
}

// owes sets the number of alerts of a timestep that wait for their reasons.
func (e *explaining) owes(t lethe.Timestep, alerts int) {
	if e.pending[t] == alerts {
		return
	}
	e.pending[t] = alerts
	e.o.Listener(events.ReasonsOwed{Alerts: e.owed()})
}

// owed is how many alerts wait for their reasons.
func (e *explaining) owed() (all int) {
	for t, n := range e.pending {
		if _, known := e.state.links[t]; known { // else it is gone
			all += n
		}
	}
	return all
}

// finished publishes the reasons made beside the loop, if they are still needed: their timestep may be gone.
func (e *explaining) finished(ctx context.Context) (out role.Output, due bool, err error) {
	made, taken, err := e.background.Take()
	if err != nil || !taken || e.state.links[made.timestep].owed == owesNothing {
		return out, false, err
	}
	return e.publish(ctx, made), true, nil
}

// next begins to make reasons that are owed, of the timestep that owing returns.
func (e *explaining) next(ctx context.Context) (out role.Output, due bool, err error) {
	if e.background.Busy() {
		return out, false, nil
	}
	t := e.owing()
	if t == lethe.NoTimestep {
		return out, false, nil
	}
	job, err := e.job(ctx, t)
	if err != nil {
		return out, false, err
	}
	e.at = t
	e.background.Begin(job)
	if e.o.ReasonsBeside {
		return out, false, nil
	}
	e.background.RunHere()
	return e.finished(ctx)
}

// overtake abandons the job under way if it explains alerts of a timestep, or of any.
func (e *explaining) overtake(t lethe.Timestep) {
	if t == e.at || t == lethe.NoTimestep {
		e.background.Abandon()
	}
}

// job returns the job that makes reasons of some waiting alerts, by the ensemble that made the predictions, or by the
// served one. If there is none, reasons are disabled or cannot be computed, it withdraws those that were published.
func (e *explaining) job(ctx context.Context, t lethe.Timestep) (background.Job[explanation], error) {
	snapshot, err := e.state.snapshot(t)
	if err != nil {
		return nil, err
	}
	by, again := e.state.models.served, e.state.links[t].owed == owesAgain
	before, err := readExplained(e.state.store, t)
	if err == nil && before.unread && again {
		before, err = e.readAlerts(ctx, t, before)
	}
	if err != nil {
		return nil, err
	}
	if p, pinned := e.state.models.pins[t]; pinned && !again && !slices.Equal(p.models, e.state.models.servedModels) {
		if by, err = e.state.models.ensembleOf(p.models); err != nil {
			return nil, err
		}
	}
	ask := e.newAsked(by, snapshot, again)
	return func(ctx context.Context) (explanation, error) {
		made := explanation{timestep: t}
		var rows []int
		rows, made.after = before.next(snapshot, ask.hides)
		records, err := ask.reasons(ctx, rows)
		if err != nil {
			return made, fmt.Errorf("explain alerts of timestep %d: %w", t, err)
		}
		made.records = records
		var explained []alert
		for i, at := range rows {
			if records[i].Value != nil {
				explained = append(explained, alert{node: snapshot.Nodes[at].Pseudonym})
			}
		}
		surround(snapshot, explained)
		made.after.alerts = append(made.after.alerts, explained...)
		made.after.sort()
		return made, nil
	}, nil
}

// readTopic reads which transactions have reasons on reasons.v1, once.
func (e *explaining) readTopic(ctx context.Context) (err error) {
	if e.onTopic == nil {
		e.onTopic, err = published.Explained(ctx, e.o.Bus, e.o.Secret)
	}
	return err
}

// recoverAlerts returns the alerts of a timestep that was scored before the folder was lost. Those without reasons get
// them now, and all if an open erasure rewrites the timestep: it may have rewritten the graph already.
func (e *explaining) recoverAlerts(graph *lethe.Snapshot, of *published.Step, isOpen bool) (out explained) {
	has := make(map[lethe.Pseudonym]bool)
	for _, node := range e.onTopic[graph.Timestep] {
		has[node] = true
		out.alerts = append(out.alerts, alert{node: node, owed: isOpen})
	}
	surround(graph, out.alerts)
	var lacking []published.Score
	for _, s := range of.Scores {
		if e.o.reasons() > 0 && s.Probability >= of.Threshold && !has[s.Node] {
			lacking = append(lacking, s)
		}
	}
	return out.with(lacking)
}

// readAlerts adds the alerts that have reasons on reasons.v1, to be explained again.
func (e *explaining) readAlerts(ctx context.Context, t lethe.Timestep, known explained) (explained, error) {
	if err := e.readTopic(ctx); err != nil {
		return known, err
	}
	all := explained{alerts: slices.Clone(known.alerts), changed: true}
	for _, node := range e.onTopic[t] {
		if !slices.ContainsFunc(known.alerts, func(a alert) bool { return a.node == node }) {
			all.alerts = append(all.alerts, alert{node: node, owed: true})
		}
	}
	all.sort()
	return all, nil
}

// publish returns the output that publishes reasons.
func (e *explaining) publish(ctx context.Context, made explanation) role.Output {
	return role.Output{Topic: bus.Reasons, Records: made.records, Note: func() error {
		published := journal.Explained{Timestep: made.timestep, Owed: made.after.owed()}
		if err := e.decide(ctx, published); err != nil {
			return err
		}
		return e.note(made.timestep, made.after)
	}}
}

// note stores the alerts of a timestep once reasons of some are published.
func (e *explaining) note(t lethe.Timestep, after explained) error {
	next, s := e.state.links[t], e.state
	p, pinned := s.models.pins[t]
	if after.owed() == 0 {
		next.owed = owesNothing
		delete(s.models.pins, t)
	}
	err := s.store.Apply(func(w swapstore.Writer) error {
		after.write(w, t)
		next.settle(w, t)
		if pinned && next.owed == owesNothing {
			e.unpin(w, t, p)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("note that timestep %d was explained: %w", t, err)
	}
	s.links[t] = next
	e.owes(t, after.owed())
	return nil
}

// explained stores in a standby that the next reasons of a timestep are published. Alerts for which it has none count
// as explained.
func (e *explaining) explained(d journal.Explained) error {
	t := d.Timestep
	before, err := readExplained(e.state.store, t)
	if err != nil || e.state.links[t].owed == owesNothing || d.Owed > 0 && before.owed() <= d.Owed {
		return err // it is stored already
	}
	snapshot, err := e.state.snapshot(t)
	if err != nil {
		return err
	}
	rows, after := before.next(snapshot, e.state.hidden.hides(e.o.Secret))
	for _, at := range rows {
		after.alerts = append(after.alerts, alert{node: snapshot.Nodes[at].Pseudonym})
	}
	surround(snapshot, after.alerts[len(after.alerts)-len(rows):])
	after.sort()
	return e.note(t, after)
}

// reasons returns the maximum number of reasons per component of an alert, 0 if none can explain.
func (o Options) reasons() int {
	for _, c := range o.Layout.Components {
		if c.Config.Explains() {
			return o.Scoring.Reasons
		}
	}
	return 0
}
