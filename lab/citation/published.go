package citation

import (
	"errors"
	"fmt"
)

// published is a data set of the paper as its authors count it. Files are
// recognised by their size and not by their name: under the names Cora and
// CiteSeer there are several graphs.
type published struct {
	name                     string
	nodes, features          int
	edges, classes, agreeing int
}

// publishedGraphs returns the citation graphs of the paper, with their undirected
// edges; agreeing counts those that join two nodes of one class, 0 if that is
// not known. Cora, CiteSeer: Yang et al. 2016 (Planetoid); DBLP: Bojchevski and
// Günnemann 2018; CS: Shchur et al. 2018.
func publishedGraphs() []published {
	return []published{
		{name: "Cora", nodes: 2708, features: 1433, edges: 5278, classes: 7, agreeing: 4275},
		{name: "CiteSeer", nodes: 3327, features: 3703, edges: 4552, classes: 6, agreeing: 3348},
		{name: "DBLP", nodes: 17716, features: 1639, edges: 52867, classes: 4},
		{name: "CS", nodes: 18333, features: 6805, edges: 81894, classes: 15},
	}
}

// checkPublished names the published graph that this one is, if its nodes and
// features are as many. It then refuses other edges and classes: rows are
// missing, or labels are not those of their nodes.
func (g *Graph) checkPublished() error {
	for _, p := range publishedGraphs() {
		if g.NumNodes != p.nodes || g.Features.Columns != p.features {
			continue
		}
		agree := 0
		for _, e := range g.Edges {
			if g.Labels[e.A] == g.Labels[e.B] {
				agree++
			}
		}
		g.Published = p.name
		var errs []error
		if len(g.Edges) != p.edges {
			errs = append(errs, fmt.Errorf("%d undirected edges, %s has %d: the graph was cut short", len(g.Edges), p.name,
				p.edges))
		}
		if g.Classes != p.classes {
			errs = append(errs, fmt.Errorf("%d classes, %s has %d: the labels are another's", g.Classes, p.name, p.classes))
		}
		if len(errs) == 0 && p.agreeing > 0 && agree != p.agreeing {
			errs = append(errs, fmt.Errorf("%d edges join nodes of one class, in %s %d do: the labels are in another order",
				agree, p.name, p.agreeing))
		}
		return errors.Join(errs...)
	}
	return nil
}

// checkClasses refuses labels that leave out a class: numbers of classes are
// taken to run from 0 without a gap.
func (g *Graph) checkClasses() error {
	counts := make([]int, g.Classes)
	for _, label := range g.Labels {
		counts[label]++
	}
	for class, n := range counts {
		if n == 0 {
			return fmt.Errorf("labels: class %d of 0..%d does not occur", class, g.Classes-1)
		}
	}
	return nil
}
