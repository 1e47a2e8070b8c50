package partition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
)

// The transcripts know these commands:
//
//	graph classes=<n>       "classes" and "edges" lines make the graph
//	quotas shards=<v>       quotas per class
//	run shards=<v> [method=] [assign=] [sweeps=] [seed=] [no-refine]
//	                        input, if any, is the embedding: one row per node
//	tune shards=<v> [method=]
//	                        the trials and the choice
//	propagate shards=<v> sweeps=<n>
//	                        label propagation from the assignment given
//	refine shards=<v> [slack=]
//	                        refines the assignment given, shows before and after
//	clusters bound=<n>      the clusters of a coarsening, and the level they make
//	even-out shards=<v>     makes the assignment given meet the quotas
//	score shards=<v>        scores the assignment given
//	slices shards=<v> [repair=] [min-stubs=] [none]
//	                        the graph as a snapshot, under the assignment given
//	truth shards=<v>        likewise, with the features of true neighbours
//	affected                own and stub-holding shards of every node, likewise
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		session := &transcript{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := session.command(t, d)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

type transcript struct {
	graph *Graph
	edges []lethe.Edge
}

func (s *transcript) command(t *testing.T, d *datadriven.TestData) (string, error) {
	shards, seed, classes := 2, uint64(1), 1
	d.MaybeScanArgs(t, "shards", &shards)
	d.MaybeScanArgs(t, "seed", &seed)
	d.MaybeScanArgs(t, "classes", &classes)
	switch d.Cmd {
	case "graph":
		return s.readGraph(t, d.Input, classes)
	case "quotas":
		return showQuotas(newQuotas(s.graph, shards), s.graph), nil
	case "run":
		a, report, err := Run(t.Context(), s.graph, readOptions(t, d, shards, seed))
		if err != nil {
			return "", err
		}
		out, err := s.show(a, shards)
		return out + showCourse(report), err
	case "tune":
		best, trials, err := Tune(t.Context(), s.graph, readOptions(t, d, shards, seed))
		if err != nil {
			return "", err
		}
		var out strings.Builder
		for _, trial := range trials {
			fmt.Fprintf(&out, "  alpha %g, beta %g: %.4f\n", trial.Alpha, trial.Beta, trial.Loss)
		}
		fmt.Fprintf(&out, "  best: alpha %g, beta %g\n", best.Alpha, best.Beta)
		return out.String(), nil
	case "propagate":
		a, report := readAssignment(t, d.Input), Report{}
		if err := propagate(t.Context(), s.graph, a, readOptions(t, d, shards, seed), &report); err != nil {
			return "", err
		}
		out, err := s.show(a, shards)
		return out + showCourse(report), err
	case "refine":
		a := readAssignment(t, d.Input)
		before, err := s.show(a, shards)
		if err != nil {
			return "", err
		}
		opts := Options{Shards: shards, Seed: seed, RefineSweeps: 20}
		d.MaybeScanArgs(t, "slack", &opts.Slack)
		if _, err := refine(t.Context(), s.graph, a, opts); err != nil {
			return "", err
		}
		after, err := s.show(a, shards)
		return "before\n" + before + "after\n" + after, err
	case "clusters":
		bound := 0
		d.ScanArgs(t, "bound", &bound)
		return showClusters(finestLevel(s.graph), bound, s.graph.NumClasses()), nil
	case "even-out":
		m := newMoves(finestLevel(s.graph), readAssignment(t, d.Input), newQuotas(s.graph, shards))
		m.evenOut()
		return s.show(m.a, shards)
	case "score":
		return s.show(readAssignment(t, d.Input), shards)
	case "slices":
		opts := RepairOptions{Seed: seed}
		d.MaybeScanArgs(t, "repair", &opts.Method)
		d.MaybeScanArgs(t, "min-stubs", &opts.MinStubs)
		return showSlices(s.snapshot(), readAssignment(t, d.Input), shards, opts)
	case "truth":
		return showTruth(s.snapshot(), readAssignment(t, d.Input), shards)
	case "affected":
		a := readAssignment(t, d.Input)
		var out strings.Builder
		for i := range a {
			fmt.Fprintf(&out, "node %d: %v\n", i, Affected(s.snapshot(), a, i))
		}
		return out.String(), nil
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
		return "", nil
	}
}

func (s *transcript) readGraph(t *testing.T, input string, numClasses int) (string, error) {
	var classes []uint8
	s.edges = nil
	for _, line := range strings.Split(input, "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		for _, word := range strings.Fields(rest) {
			switch kind {
			case "classes":
				classes = append(classes, uint8(number(t, word)))
			case "edges":
				a, b, ok := strings.Cut(word, "-")
				require.True(t, ok, "edge %s", word)
				s.edges = append(s.edges, lethe.Edge{A: uint32(number(t, a)), B: uint32(number(t, b))})
			}
		}
	}
	var err error
	if s.graph, err = NewGraph(len(classes), s.edges, classes, numClasses); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d nodes, %d edges\n", s.graph.N(), s.graph.NumEdges()), nil
}

// snapshot makes the graph a snapshot of timestep 3: classes are labels, the
// one feature of a node is its number.
func (s *transcript) snapshot() *lethe.Snapshot {
	out := &lethe.Snapshot{Timestep: 3, FeatureCount: 1, Payments: slices.Clone(s.edges)}
	slices.SortFunc(out.Payments, lethe.Edge.Compare)
	for i := range s.graph.N() {
		out.Nodes = append(out.Nodes, lethe.SnapshotNode{
			Pseudonym: lethe.Pseudonym{byte(i)}, Label: lethe.Label(s.graph.Class(i)),
		})
		out.Features = append(out.Features, float32(i))
	}
	return out
}

func (s *transcript) show(a Assignment, shards int) (string, error) {
	scores, err := Score(s.graph, a, shards)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for shard := range shards {
		fmt.Fprintf(&out, "  shard %d:", shard)
		for i := range a {
			if int(a[i]) == shard {
				fmt.Fprintf(&out, " %d", i)
			}
		}
		fmt.Fprintf(&out, "; by class %v\n", scores.ClassCounts[shard])
	}
	fmt.Fprintf(&out, "  cut %d of %d, balance %.4f, fairness %.4f\n", scores.CutEdges, scores.Edges, scores.Balance, scores.Fairness)
	r := scores.Reach
	fmt.Fprintf(&out, "  an erasure reaches %.4g, %.4g or %.4g shards\n", r.Shard, r.Stubs, r.Partition)
	return out.String(), nil
}

// showCourse describes the iteration of methods that iterate.
func showCourse(r Report) string {
	if r.Iterations == 0 {
		return ""
	}
	out := fmt.Sprintf("  %d sweeps, converged %t\n", r.Iterations, r.Converged)
	if len(r.Objective) > 0 {
		out += fmt.Sprintf("  objective %.3f\n", r.Objective)
	}
	return out
}

func readOptions(t *testing.T, d *datadriven.TestData, shards int, seed uint64) Options {
	opts := Options{Shards: shards, Seed: seed, NoRefine: d.HasArg("no-refine")}
	d.MaybeScanArgs(t, "method", &opts.Method)
	d.MaybeScanArgs(t, "assign", &opts.Assign)
	d.MaybeScanArgs(t, "sweeps", &opts.Sweeps)
	if d.Cmd != "run" || d.Input == "" {
		return opts
	}
	opts.Embedding = &Embedding{}
	for _, line := range strings.Split(d.Input, "\n") {
		words := strings.Fields(line)
		opts.Embedding.Columns = len(words)
		for _, word := range words {
			x, err := strconv.ParseFloat(word, 64)
			require.NoError(t, err)
			opts.Embedding.Values = append(opts.Embedding.Values, x)
		}
	}
	return opts
}

func showTruth(s *lethe.Snapshot, a Assignment, shards int) (string, error) {
	all, err := TruthSlices(s, lethe.NoTimestep, a, shards)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, slice := range all {
		fmt.Fprintf(&out, "shard %d\n", slice.Shard)
		for k, stub := range slice.Stubs {
			fmt.Fprintf(&out, "  stub of node %d: features %v\n", slice.Nodes[stub.Owner][0],
				slice.StubFeatures[k*slice.FeatureCount:(k+1)*slice.FeatureCount])
		}
	}
	return out.String(), nil
}

func showQuotas(q *quotas, g *Graph) string {
	var out strings.Builder
	for class := range g.NumClasses() {
		fmt.Fprintf(&out, "class %d: %v\n", class, q.of(uint8(class)))
	}
	return out.String()
}

func showClusters(l *level, bound, numClasses int) string {
	cluster, count := l.cluster(bound, lethe.NewDraw(1, "test"))
	coarse := l.contract(cluster, count, numClasses)
	var out strings.Builder
	for c := range count {
		fmt.Fprintf(&out, "cluster %d:", c)
		for i := range cluster {
			if int(cluster[i]) == c {
				fmt.Fprintf(&out, " %d", i)
			}
		}
		for k := coarse.loadStart[c]; k < coarse.loadStart[c+1]; k++ {
			fmt.Fprintf(&out, "; %d of class %d", coarse.loadCount[k], coarse.loadClass[k])
		}
		for k := coarse.start[c]; k < coarse.start[c+1]; k++ {
			fmt.Fprintf(&out, "; weight %d to %d", coarse.weight(k), coarse.neighbours[k])
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}

func showSlices(s *lethe.Snapshot, a Assignment, shards int, opts RepairOptions) (string, error) {
	all, err := Slices(s, lethe.NoTimestep, a, shards, opts)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, slice := range all {
		fmt.Fprintf(&out, "shard %d\n", slice.Shard)
		for at, p := range slice.Nodes {
			fmt.Fprintf(&out, "  node %d: %s, features %v\n", p[0], slice.Labels[at], slice.Row(at))
			for _, e := range slice.Edges {
				if int(e.A) == at {
					fmt.Fprintf(&out, "    edge to %d\n", slice.Nodes[e.B][0])
				}
			}
			for _, stub := range slice.Stubs {
				if int(stub.Owner) == at {
					fmt.Fprintf(&out, "    stub times %.4f\n", stub.Lambda)
				}
			}
		}
	}
	return out.String(), nil
}

func readAssignment(t *testing.T, input string) Assignment {
	words := strings.Fields(input)
	a := make(Assignment, len(words))
	for i, word := range words {
		a[i] = lethe.ShardID(number(t, word))
	}
	return a
}

func number(t *testing.T, word string) int {
	n, err := strconv.Atoi(word)
	require.NoError(t, err)
	return n
}
