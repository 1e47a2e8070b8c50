package ensemble

import (
	"lethe"
	"lethe/trainer"
)

// Known is what models said of slices when Learn was called last: after an erasure nearly
// all models and slices are as they were. It holds nothing of others. The zero value knows
// nothing; nil never does. One Learn at a time may use it.
type Known struct {
	bySlice map[lethe.Digest]map[asked][]float64
}

// asked is a model as it was asked.
type asked struct {
	model   lethe.ShardID
	lineage lethe.Digest
}

// answersOf is what is known of one slice, before and now. Its zero value keeps nothing.
type answersOf struct {
	slice       lethe.Digest
	before, now map[asked][]float64
	// others is what somebody else was told by all models that are asked, each of which says rows numbers.
	others []float32
	rows   int
}

// of returns what is known of a slice.
func (k *Known) of(digest lethe.Digest) answersOf {
	return answersOf{slice: digest, before: k.bySlice[digest], now: make(map[asked][]float64)}
}

// replace forgets everything but what was asked now.
func (k *Known) replace(answers []answersOf) {
	if k == nil {
		return
	}
	k.bySlice = make(map[lethe.Digest]map[asked][]float64, len(answers))
	for _, a := range answers {
		k.bySlice[a.slice] = a.now
	}
}

// ask returns what a model says of the slice's labelled nodes: what it said before, if it
// is the same, or what others were told. Models are asked in their order.
func (a *answersOf) ask(number lethe.ShardID, m *trainer.Checkpoint, ask func() ([]float64, error)) ([]float64, error) {
	key := asked{number, m.Lineage}
	said, ok := a.before[key]
	if a.others != nil {
		heard := a.others[:a.rows]
		a.others = a.others[a.rows:]
		if !ok {
			said, ok = make([]float64, a.rows), true
			for i, p := range heard {
				said[i] = float64(p)
			}
		}
	}
	if !ok {
		var err error
		if said, err = ask(); err != nil {
			return nil, err
		}
	}
	if a.now != nil {
		a.now[key] = said
	}
	return said, nil
}
