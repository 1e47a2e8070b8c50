package graphtest

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/partition/graph"
)

// ReadSteps reads the graphs of an Elliptic-style dataset, one per timestep, in order, without
// features.
func ReadSteps(t testing.TB, folder string) []*graph.Graph {
	t.Helper()
	labels := map[string]uint8{"1": uint8(lethe.Illicit), "2": uint8(lethe.Licit), "unknown": uint8(lethe.Unknown)}
	label := map[string]uint8{}
	for _, row := range readCSV(t, filepath.Join(folder, "elliptic_txs_classes.csv"))[1:] {
		label[row[0]] = labels[row[1]]
	}
	type place struct{ step, node int }
	at := map[string]place{}
	var classes [][]uint8
	for _, row := range readHeads(t, filepath.Join(folder, "elliptic_txs_features.csv")) {
		step, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		for len(classes) < step {
			classes = append(classes, nil)
		}
		at[row[0]] = place{step - 1, len(classes[step-1])}
		classes[step-1] = append(classes[step-1], label[row[0]])
	}
	edges := make([][]lethe.Edge, len(classes))
	for _, row := range readCSV(t, filepath.Join(folder, "elliptic_txs_edgelist.csv"))[1:] {
		a, b := at[row[0]], at[row[1]]
		require.Equal(t, a.step, b.step)
		edges[a.step] = append(edges[a.step], lethe.Edge{A: uint32(a.node), B: uint32(b.node)})
	}
	graphs := make([]*graph.Graph, len(classes))
	for step := range graphs {
		g, err := graph.New(len(classes[step]), edges[step], classes[step], lethe.NumLabels)
		require.NoError(t, err)
		graphs[step] = g
	}
	return graphs
}

func readCSV(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return rows
}

// readHeads reads the first two columns of a wide file.
func readHeads(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var rows [][]string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rows = append(rows, strings.SplitN(lines.Text(), ",", 3)[:2])
	}
	require.NoError(t, lines.Err())
	return rows
}

// ReadCitation reads a citation graph and returns the subgraph induced by a seeded share of its
// nodes.
func ReadCitation(t testing.TB, path string, fraction float64, seed uint64) *graph.Graph {
	t.Helper()
	archive, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer archive.Close()
	starts := readInt32s(t, archive, "adj_indptr.npy")
	ends := readInt32s(t, archive, "adj_indices.npy")
	labels := readArray(t, archive, "labels.npy")

	keep := make([]int, len(labels))
	for i := range keep {
		keep[i] = i
	}
	draw := lethe.NewDraw(seed, "train-split")
	for i := len(keep) - 1; i > 0; i-- {
		j := draw.IntN(i + 1)
		keep[i], keep[j] = keep[j], keep[i]
	}
	keep = keep[:int(fraction*float64(len(keep)))]
	position := map[int32]int{}
	classes := make([]uint8, len(keep))
	numClasses := 0
	for at, node := range keep {
		position[int32(node)] = at
		classes[at] = labels[node]
		numClasses = max(numClasses, int(labels[node])+1)
	}
	var edges []lethe.Edge
	for at, node := range keep {
		for _, other := range ends[starts[node]:starts[node+1]] {
			if to, ok := position[other]; ok && to != at {
				edges = append(edges, lethe.Edge{A: uint32(at), B: uint32(to)})
			}
		}
	}
	g, err := graph.New(len(keep), edges, classes, numClasses)
	require.NoError(t, err)
	return g
}

func readInt32s(t testing.TB, archive *zip.ReadCloser, name string) []int32 {
	t.Helper()
	raw := readArray(t, archive, name)
	values := make([]int32, len(raw)/4)
	for i := range values {
		values[i] = int32(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return values
}

// readArray returns the raw data of a NumPy array of format version 1.
func readArray(t testing.TB, archive *zip.ReadCloser, name string) []byte {
	t.Helper()
	f, err := archive.Open(name)
	require.NoError(t, err)
	defer f.Close()
	raw, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "\x93NUMPY\x01", string(raw[:7]))
	return raw[10+binary.LittleEndian.Uint16(raw[8:]):]
}
