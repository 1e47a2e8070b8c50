package graphtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/partition/graph"
	"lethe/partition/scores"
)

// Session is the state that the transcripts of partition's packages share: a graph that later
// commands refer to.
type Session struct {
	Graph *graph.Graph
	edges []lethe.Edge
}

// Command executes one command of a transcript.
type Command func(t *testing.T, s *Session, d *datadriven.TestData) (string, error)

// Transcripts runs the transcripts under testdata. Besides the given commands, all of them have
// "graph classes=<n>", which builds the graph of "classes" and "edges" lines.
func Transcripts(t *testing.T, commands map[string]Command) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		s := &Session{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			command, ok := commands[d.Cmd]
			if d.Cmd == "graph" {
				command, ok = readGraph, true
			}
			if !ok {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			out, err := command(t, s, d)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

// Shards returns the argument shards, by default 2.
func Shards(t *testing.T, d *datadriven.TestData) int {
	shards := 2
	d.MaybeScanArgs(t, "shards", &shards)
	return shards
}

// Seed returns the argument seed, by default 1.
func Seed(t *testing.T, d *datadriven.TestData) uint64 {
	seed := uint64(1)
	d.MaybeScanArgs(t, "seed", &seed)
	return seed
}

func readGraph(t *testing.T, s *Session, d *datadriven.TestData) (string, error) {
	numClasses := 1
	d.MaybeScanArgs(t, "classes", &numClasses)
	var classes []uint8
	s.edges = nil
	for _, line := range strings.Split(d.Input, "\n") {
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
	if s.Graph, err = graph.New(len(classes), s.edges, classes, numClasses); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d nodes, %d edges\n", s.Graph.N(), s.Graph.NumEdges()), nil
}

// Snapshot returns the graph as a snapshot of timestep 3: classes are labels, and the one feature
// of a node is its number.
func (s *Session) Snapshot() *lethe.Snapshot {
	out := &lethe.Snapshot{Timestep: 3, FeatureCount: 1}
	for _, e := range s.edges {
		out.Payments = append(out.Payments, lethe.Arc{Source: e.A, Target: e.B})
	}
	slices.SortFunc(out.Payments, lethe.Arc.Compare)
	for i := range s.Graph.N() {
		out.Nodes = append(out.Nodes, lethe.SnapshotNode{
			Pseudonym: lethe.Pseudonym{byte(i)}, Label: lethe.Label(s.Graph.Class(i)),
		})
		out.Features = append(out.Features, float32(i))
	}
	return out
}

// Show lists the shards of an assignment and its scores.
func (s *Session) Show(a graph.Assignment, shards int) (string, error) {
	measured, err := scores.Of(s.Graph, a, shards)
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
		fmt.Fprintf(&out, "; by class %v\n", measured.ClassCounts[shard])
	}
	fmt.Fprintf(&out, "  cut %d of %d, balance %.4f, fairness %.4f\n", measured.CutEdges, measured.Edges, measured.Balance,
		measured.Fairness)
	r := measured.Reach
	fmt.Fprintf(&out, "  an erasure reaches %.4g, %.4g or %.4g shards\n", r.Shard, r.Stubs, r.Partition)
	return out.String(), nil
}

// ReadAssignment reads the shard of every node.
func ReadAssignment(t *testing.T, input string) graph.Assignment {
	words := strings.Fields(input)
	a := make(graph.Assignment, len(words))
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
