package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// extras are what a component does with the nodes that have no label. The zero value is
// nothing.
type extras struct {
	// rounds of self-training; each learns from what the model before it is sure of.
	rounds int
	// spread says that labels spread in every slice before anything is learnt from it.
	spread bool
	// smooth is the share that a node's logit takes from its neighbours' when a model is
	// asked about a graph.
	smooth float64
	// width is that of the embeddings by DGI, 0 for none, and epochs how often their encoder
	// passes over the slice of a timestep.
	width, epochs int
	// sure is the least probability of a class at which a guess is taken for a label.
	sure float64
	// share of such guesses that are taken, drawn by node.
	share float64
	// seed keys the draws.
	seed uint64
}

// set sets an option; known tells whether there is one of that name.
func (e *extras) set(key, value string) (known bool, err error) {
	integers := map[string]*int{"self": &e.rounds, "dgi": &e.width, "epochs": &e.epochs}
	numbers := map[string]*float64{"sure": &e.sure, "smooth": &e.smooth, "share": &e.share}
	switch {
	case key == "spread":
		e.spread = true
	case integers[key] != nil:
		*integers[key], err = strconv.Atoi(value)
	case numbers[key] != nil:
		*numbers[key], err = strconv.ParseFloat(value, 64)
	default:
		return false, nil
	}
	if err != nil {
		err = fmt.Errorf("%s is %q, want a number", key, value)
	}
	return true, err
}

// check says all that is wrong.
func (e *extras) check() error {
	var wrong []string
	if e.rounds < 0 {
		wrong = append(wrong, fmt.Sprintf("self is %d, want at least 0", e.rounds))
	}
	if e.width < 0 || e.epochs < 0 {
		wrong = append(wrong, fmt.Sprintf("dgi is %d, epochs %d, want at least 0", e.width, e.epochs))
	}
	if e.smooth < 0 || e.smooth >= 1 {
		wrong = append(wrong, fmt.Sprintf("smooth is %g, want at least 0, less than 1", e.smooth))
	}
	if e.sure <= .5 || e.sure > 1 {
		wrong = append(wrong, fmt.Sprintf("sure is %g, want more than 0.5, at most 1", e.sure))
	}
	if !(e.share > 0 && e.share <= 1) {
		wrong = append(wrong, fmt.Sprintf("share is %g, want more than 0, at most 1", e.share))
	}
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(wrong, "; "))
}
