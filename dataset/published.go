package dataset

import (
	"errors"
	"fmt"

	"lethe"
)

// published is a data set of the paper as its authors count it. Files are
// recognised by their size and not by their name: under the names Cora and
// CiteSeer there are several graphs.
type published struct {
	name                     string
	nodes, features          int
	edges, classes, agreeing int
}

// citations returns the citation graphs of the paper, with their undirected
// edges; agreeing counts those that join two nodes of one class, 0 if that is
// not known. Cora, CiteSeer: Yang et al. 2016 (Planetoid); DBLP: Bojchevski and
// Günnemann 2018; CS: Shchur et al. 2018.
func citations() []published {
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
func (c *Citation) checkPublished() error {
	for _, p := range citations() {
		if c.NumNodes != p.nodes || c.Features.Columns != p.features {
			continue
		}
		agree := 0
		for _, e := range c.Edges {
			if c.Labels[e.A] == c.Labels[e.B] {
				agree++
			}
		}
		c.Published = p.name
		var errs []error
		if len(c.Edges) != p.edges {
			errs = append(errs, fmt.Errorf("%d undirected edges, %s has %d: the graph was cut short", len(c.Edges), p.name, p.edges))
		}
		if c.Classes != p.classes {
			errs = append(errs, fmt.Errorf("%d classes, %s has %d: the labels are another's", c.Classes, p.name, p.classes))
		}
		if len(errs) == 0 && p.agreeing > 0 && agree != p.agreeing {
			errs = append(errs, fmt.Errorf("%d edges join nodes of one class, in %s %d do: the labels are in another order", agree, p.name, p.agreeing))
		}
		return errors.Join(errs...)
	}
	return nil
}

// checkClasses refuses labels that leave out a class: numbers of classes are
// taken to run from 0 without a gap.
func (c *Citation) checkClasses() error {
	counts := make([]int, c.Classes)
	for _, label := range c.Labels {
		counts[label]++
	}
	for class, n := range counts {
		if n == 0 {
			return fmt.Errorf("labels: class %d of 0..%d does not occur", class, c.Classes-1)
		}
	}
	return nil
}

// checkPublished refuses a stream that has the transactions and features of
// Elliptic (Weber et al. 2019) without its payments and labels. Every other
// loss of whole rows shows in the other files; of payments, nothing else tells
// how many there are.
func (t Totals) checkPublished(features int) error {
	const transactions, columns, steps, payments, illicit, licit = 203_769, 165, 49, 234_355, 4_545, 42_019
	if t.Transactions != transactions || features != columns {
		return nil
	}
	refuse := func(file, what string, got, want int) error {
		if got == want {
			return nil
		}
		return &RowError{File: file, Reason: fmt.Sprintf("%d %s for the %d transactions of Elliptic, which have %d", got, what, transactions, want)}
	}
	return errors.Join(
		refuse(FeaturesFile, "timesteps", t.Steps, steps),
		refuse(EdgesFile, "payments", t.Payments, payments),
		refuse(ClassesFile, "illicit labels", t.Labels[lethe.Illicit], illicit),
		refuse(ClassesFile, "licit labels", t.Labels[lethe.Licit], licit),
	)
}
