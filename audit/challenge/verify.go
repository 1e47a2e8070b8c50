package challenge

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"lethe"
	"lethe/canonical"
	"lethe/deletions/translog"
	"lethe/scoring"
	"lethe/scoring/ensemble"
)

// maxProblems bounds the list: a bundle of another log has thousands.
const maxProblems = 50

// Options configures the check of a bundle.
type Options struct {
	// Key is the deployment's public key, which the auditor has from an independent source.
	Key ed25519.PublicKey
	// Workers bounds how many models are trained in parallel; at least 1.
	Workers int
	// Progress, if not nil, is called with the number of models that were retrained.
	Progress func(done, of int)
}

// Report is the result of a check. The JSON names are part of the command line.
type Report struct {
	OK bool `json:"ok"`
	// Problems are the checks that fail.
	Problems []string `json:"problems"`
	// Log is the name of the log, LogSize the number of its leaves.
	Log       string       `json:"log"`
	LogSize   int64        `json:"log_size"`
	Challenge lethe.Digest `json:"challenge"`
	// Pairs are the drawn ones, of Population.
	Pairs      []Pair `json:"pairs"`
	Population int    `json:"population"`
	// Slices were compared with their digests and searched for the targets of Requests requests,
	// which were carried out according to the log; UnderWay others are still open.
	Slices   int `json:"slices"`
	Requests int `json:"requests"`
	UnderWay int `json:"requests_under_way"`
	// Earlier are those of Requests that were carried out before the secret was rotated: they
	// commit to previous pseudonyms, which no slice holds any more, so the search cannot find
	// them.
	Earlier int `json:"requests_before_rotation,omitempty"`
	// OpenPayments counts edges of the slices, and stubs, between both ends of an erased payment.
	// They may stand for the opposite payment, which was not erased: slices have no directions.
	OpenPayments int `json:"open_payments"`
	// NotCommitted counts findings of requests that the log does not commit to.
	NotCommitted int `json:"not_committed"`
	// Models counts the retrained models.
	Models    int    `json:"models"`
	KernelSet string `json:"kernel_set"`
	// Setup is the digest of the configuration that they are trained with.
	Setup lethe.Digest `json:"setup"`
	// Ensemble is the version of the ensemble after the newest timestep, by the digests of the
	// log: predictions and receipts name it. It is zero if the log lacks a model.
	Ensemble lethe.Digest `json:"ensemble,omitzero"`
}

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// Verify checks an answer against the auditor's challenge. The report lists each check that fails; the error is for
// anything that prevents checking, such as a cancelled context.
func Verify(ctx context.Context, b *Bundle, c Challenge, o Options) (*Report, error) {
	r := &Report{Problems: []string{}, Pairs: []Pair{}}
	err := verify(ctx, r, b, c, o)
	r.OK = err == nil && len(r.Problems) == 0
	return r, err
}

func verify(ctx context.Context, r *Report, b *Bundle, c Challenge, o Options) error {
	v := r.openLog(b, c, o.Key)
	if v == nil {
		return nil
	}
	var err error
	if r.Pairs, err = c.Draw(v); err != nil {
		r.problem("%v", err)
		return nil
	}
	setup, runner, ok := r.openSetup(b, v, o.Workers)
	if !ok {
		return nil
	}
	steps, problems := v.Steps(setup.Layout, r.Pairs)
	r.Problems = append(r.Problems, problems...)
	if c.Meta && len(problems) == 0 {
		if steps, err = v.WithMeta(steps, setup); err != nil {
			r.problem("%v", err)
		}
	}
	r.Ensemble = v.ensemble(setup)
	if len(r.Problems) > 0 {
		return nil
	}
	held := r.takeArtefacts(b, v, steps)
	if held == nil {
		return nil
	}
	if err := r.trainAnew(ctx, runner, v, steps, *held, o.Progress); err != nil {
		return err
	}
	return r.learnAnew(ctx, runner, v, setup, steps, *held)
}

// openLog checks that the bundle has the whole log of the challenge's checkpoint, and that it
// answers that challenge. It returns nil if nothing else can be checked.
func (r *Report) openLog(b *Bundle, c Challenge, key ed25519.PublicKey) *View {
	tree, err := translog.ParseCheckpoint(c.Checkpoint)
	var keys translog.Keys
	if err == nil {
		keys, err = translog.KeysOf(tree.Origin, b.Leaves, key)
	}
	if err == nil {
		_, err = keys.Open(c.Checkpoint, tree.Origin)
	}
	if err != nil {
		r.problem("the checkpoint of the challenge: %v", err)
		return nil
	}
	r.Log, r.LogSize = tree.Origin, tree.N
	if _, err := keys.Open(b.Checkpoint, tree.Origin); err != nil {
		r.problem("the checkpoint of the bundle: %v", err)
		return nil
	}
	if r.Challenge, err = c.ID(); err != nil || r.Challenge != b.Challenge {
		r.problem("the bundle answers another challenge: another checkpoint, seed, number, shard or timestep")
		return nil
	}
	if int64(len(b.Leaves)) != tree.N {
		r.problem("the bundle has %d leaves of the log, its checkpoint %d", len(b.Leaves), tree.N)
		return nil
	}
	if root, err := rootOf(b.Leaves); err != nil || root.Hash != tree.Hash {
		r.problem("the leaves are not those of the log: their root is not the checkpoint's")
		return nil
	}
	v, err := Read(b.Leaves)
	if err != nil {
		r.problem("%v (use the version of lethe that wrote it)", err)
		return nil
	}
	r.Problems = append(r.Problems, v.problems...)
	r.Population, r.UnderWay = len(v.Pairs()), v.underWay()
	return v
}

// rootOf computes the tree of leaves.
func rootOf(leaves [][]byte) (tlog.Tree, error) {
	var tree translog.Tree
	if err := tree.Append(leaves...); err != nil {
		return tlog.Tree{}, err
	}
	return tree.Now()
}

// openSetup checks that the bundle has the setup of the log, and that this program can train models
// with it.
func (r *Report) openSetup(b *Bundle, v *View, workers int) (ensemble.Setup, ensemble.Runner, bool) {
	r.Setup = ensemble.DigestSetup(b.Setup)
	if r.Setup != v.Setup() {
		r.problem("the configuration of the models is not that of the log")
		return ensemble.Setup{}, ensemble.Runner{}, false
	}
	setup, err := ensemble.DecodeSetup(b.Setup)
	if err != nil {
		r.problem("%v (use the version of lethe that wrote it)", err)
		return setup, ensemble.Runner{}, false
	}
	r.KernelSet = setup.Kernels
	runner, err := setup.Runner(max(workers, 1))
	if err != nil {
		r.problem("nothing can be trained anew here: %v", err)
	}
	return setup, runner, err == nil
}

// held are the artefacts of a bundle whose digests were checked.
type held struct {
	slices map[Pair]*lethe.Slice
	// models are by number and timestep.
	models map[Pair][]byte
}

// takeArtefacts checks that the slices and models are those that the steps need, by their digests,
// and that no slice holds erased data. It returns nil if one is missing.
func (r *Report) takeArtefacts(b *Bundle, v *View, steps Steps) *held {
	out := &held{make(map[Pair]*lethe.Slice), make(map[Pair][]byte)}
	slices, before := steps.Slices(), steps.Before()
	if len(b.Slices) != len(slices) || len(b.Models) != len(before) {
		r.problem("the bundle has %d slices and %d models before, the challenge needs %d and %d", len(b.Slices),
			len(b.Models), len(slices), len(before))
		return nil
	}
	gone, problems := v.open(b.Openings)
	r.Problems = append(r.Problems, problems...)
	r.Requests, r.Earlier = len(v.carriedOut()), v.earlier()
	for _, f := range gone.found {
		r.NotCommitted += f.of.found.LeftOut
	}
	for i, p := range slices {
		if s := r.takeSlice(b.Slices[i], p, v, gone); s != nil {
			out.slices[p] = s
		}
	}
	for i, p := range before {
		component, group := steps.layout.Place(p.Shard)
		if canonical.DigestOf(b.Models[i]) != v.Model(component, group, p.Timestep) {
			r.problem("%s: the model after timestep %d is not the one that the log commits to", steps.named(p.Shard),
				p.Timestep)
		}
		out.models[p] = b.Models[i]
	}
	if len(r.Problems) > 0 {
		return nil
	}
	return out
}

// takeSlice checks one slice.
func (r *Report) takeSlice(data []byte, p Pair, v *View, gone erased) *lethe.Slice {
	named := fmt.Sprintf("the slice of shard %d at timestep %d", p.Shard, p.Timestep)
	if canonical.DigestOf(data) != v.Slice(p) {
		r.problem("%s is not the one that the log commits to", named)
		return nil
	}
	s, err := canonical.DecodeSlice(data)
	switch {
	case err != nil:
		r.problem("%s: %v", named, err)
		return nil
	case s.Shard != p.Shard || s.Timestep != p.Timestep:
		r.problem("%s says that it is of shard %d at timestep %d", named, s.Shard, s.Timestep)
		return nil
	}
	r.Slices++
	if q := gone.transaction(s); q != nil {
		r.problem("%s holds a transaction that the request of leaf %d has erased", named, q.leaf)
	}
	q, open := gone.payment(s)
	if r.OpenPayments += open; q != nil {
		r.problem("%s holds a payment that was erased in both directions, last by the request of leaf %d", named, q.leaf)
	}
	for _, f := range gone.found {
		what, open := f.in(s, v.slices[p], func(e lethe.Edge) bool {
			return gone.paid(s.Nodes[e.A], s.Nodes[e.B]) != nil || gone.paid(s.Nodes[e.B], s.Nodes[e.A]) != nil
		})
		if r.OpenPayments += open; what != "" {
			r.problem("%s holds %s", named, what)
		}
	}
	return s
}

// ensemble is the version of the ensemble after the newest timestep, or zero.
func (v *View) ensemble(s ensemble.Setup) lethe.Digest {
	timesteps := v.timesteps()
	if len(timesteps) == 0 {
		return lethe.Digest{}
	}
	newest := timesteps[len(timesteps)-1]
	var digests []lethe.Digest
	for component, c := range s.Components {
		for group := range c.Groups {
			digests = append(digests, v.Model(component, group, newest))
		}
	}
	if s.Meta != nil {
		digests = append(digests, v.Model(len(s.Components), 0, newest))
	}
	for _, d := range digests {
		if d.IsZero() {
			return lethe.Digest{}
		}
	}
	return scoring.EnsembleVersion(digests)
}

// Summary returns the result in one line.
func (r *Report) Summary() string {
	if r.OK {
		return fmt.Sprintf("%d of %d pairs: %d models trained anew are those that the log commits to", len(r.Pairs),
			r.Population, r.Models)
	}
	return strings.Join(r.Problems, "; ")
}
