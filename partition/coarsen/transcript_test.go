package coarsen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"lethe"
	"lethe/partition/graphtest"
)

// TestTranscripts knows
//
//	clusters bound=<n>      the clusters of a coarsening, and the level they make
func TestTranscripts(t *testing.T) {
	graphtest.Transcripts(t, map[string]graphtest.Command{
		"clusters": func(t *testing.T, s *graphtest.Session, d *datadriven.TestData) (string, error) {
			bound := 0
			d.ScanArgs(t, "bound", &bound)
			return showClusters(Finest(s.Graph), bound, s.Graph.NumClasses()), nil
		},
	})
}

func showClusters(l *Level, bound, numClasses int) string {
	cluster, count := l.Cluster(bound, lethe.NewDraw(1, "test"))
	coarse := l.Contract(cluster, count, numClasses)
	var out strings.Builder
	for c := range count {
		fmt.Fprintf(&out, "cluster %d:", c)
		for i := range cluster {
			if int(cluster[i]) == c {
				fmt.Fprintf(&out, " %d", i)
			}
		}
		for k := coarse.LoadStart[c]; k < coarse.LoadStart[c+1]; k++ {
			fmt.Fprintf(&out, "; %d of class %d", coarse.LoadCount[k], coarse.LoadClass[k])
		}
		for k := coarse.Start[c]; k < coarse.Start[c+1]; k++ {
			fmt.Fprintf(&out, "; weight %d to %d", coarse.Weight(k), coarse.Neighbours[k])
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}
