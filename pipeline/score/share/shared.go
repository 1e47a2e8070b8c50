package share

import (
	"context"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/ingest"
	"lethe/partition/onehop"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
)

// Options say what a process shares.
type Options struct {
	// From is how many transactions a timestep needs to be shared.
	From int
	// Runner is that of the role, OneHop and Kernels what its models see and are computed with.
	Runner  ensemble.Runner
	OneHop  onehop.Mode
	Kernels string
	// Role is the name under which members are known, Instance the identity of the data directory.
	Role, Instance string
	Around         role.Surroundings
}

// Shared is a process's part in scoring what several processes score together. One goroutine uses
// it, beside that of Run. A nil *Shared shares with nobody.
type Shared struct {
	o       Options
	board   *Board
	helper  *Helper
	members wire.Members
}

// New returns the part of a process that leads the role or stands by, as Around.Standing says.
func New(o Options) *Shared {
	s := &Shared{o: o, board: NewBoard(!o.Around.Standing.StandsBy())}
	if o.Around.Standing.StandsBy() {
		s.helper = &Helper{
			Board: s.board, Runner: o.Runner, OneHop: o.OneHop, Kernels: o.Kernels, Instance: o.Instance,
			Around: o.Around,
		}
	}
	return s
}

// Run follows answers.v1 until the context ends, which is no error, and answers for a process that
// stands by.
func (s *Shared) Run(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return Run(ctx, s.board, s.helper, s.o.Around)
}

// Take notes who else plays the role.
func (s *Shared) Take(n wire.Notice) {
	if s != nil {
		s.members.Take(n)
	}
}

// Serve says which ensemble is served, nil for none.
func (s *Shared) Serve(e *ensemble.Ensemble) {
	if s != nil {
		s.helper.Serve(e)
	}
}

// Help returns the help that there is with asking an ensemble about a graph, whose message is
// given too. If a question is returned, it is to be published before; then Help is called again.
func (s *Shared) Help(e *ensemble.Ensemble, graph *lethe.Snapshot, message []byte) (ensemble.Help, *wire.Ask) {
	if s == nil || len(graph.Nodes) < s.o.From {
		return ensemble.Help{}, nil
	}
	q := wire.Question{
		Timestep: graph.Timestep, Graph: canonical.DigestOf(message), Ensemble: e.Version, Kernels: s.o.Kernels,
	}
	help := ensemble.Help{Known: s.board.Known(q)}
	others := slices.DeleteFunc(s.members.Of(s.o.Role), func(member string) bool { return member == s.o.Instance })
	if s.helper != nil || len(others) == 0 {
		return help, nil
	}
	asked := &wire.Ask{Question: q, Members: slices.Concat([]string{s.o.Instance}, others)}
	if s.board.Ask(asked) {
		return ensemble.Help{}, asked
	}
	help.Order = Order(0, len(asked.Members), len(e.Models))
	return help, nil
}

// Done says that no answers are needed any more.
func (s *Shared) Done() {
	if s != nil {
		s.board.Done()
	}
}

// Left returns the tombstones that are to be written on answers.v1, and what notes that they were.
func (s *Shared) Left() (records []ingest.Outgoing, note func() error) {
	if s == nil {
		return nil, nil
	}
	records = s.board.Left()
	return records, func() error {
		s.board.Withdrawn(records)
		return nil
	}
}

// Wake delivers when Left may have something.
func (s *Shared) Wake() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.board.Wake()
}
