package worlds

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"lethe/ingest/bus"
)

// crew are the processes that train, where several do: each has a folder of its own, and what
// brokers would assign to whom is drawn.
type crew struct {
	// away says of each that it does not run now.
	away []bool
	// owners has of each partition of slices.v1 who it is assigned to. The one that is deaf
	// has not heard of it, and goes on as before.
	owners []int
	deaf   int
	// generation is that of the group.
	generation int64
	// registered says that control.v1 has the members.
	registered bool
	// newcomer is the trainer that has not begun yet, or nobody.
	newcomer int
}

// nobody is no trainer.
const nobody = -1

// crewOf is one of some trainers, of which each has a share.
func crewOf(trainers int) crew {
	c := crew{away: make([]bool, trainers), deaf: nobody, newcomer: nobody}
	for p := range partitions[bus.Slices] {
		c.owners = append(c.owners, p%max(1, trainers))
	}
	return c
}

// without is the crew without its last trainer, who has not begun yet.
func (c crew) without() crew {
	c.newcomer = len(c.away) - 1
	c.away[c.newcomer] = true
	c.owners = crewOf(c.newcomer).owners
	return c
}

func (c crew) clone() crew {
	c.away, c.owners = slices.Clone(c.away), slices.Clone(c.owners)
	return c
}

// names are those of the trainers, and folders where they keep what they keep.
func (c crew) names() (names []string) {
	for i := range max(1, len(c.away)) {
		names = append(names, strconv.Itoa(i+1))
	}
	return names
}

func (c crew) folders() (folders []string) {
	for i := range max(1, len(c.away)) {
		folders = append(folders, folderOf(i))
	}
	return folders
}

func folderOf(trainer int) string { return numbered("/train", trainer) }

// numbered is the folder of one of several processes of a role.
func numbered(folder string, number int) string {
	if number == 0 {
		return folder
	}
	return fmt.Sprintf("%s-%d", folder, number+1)
}

// shift is what happens to a crew: somebody leaves as if killed, with the machine or without it,
// or comes back, or partitions are assigned anew.
type shift struct {
	leaves, joins int
	machine       bool
	// loses says that who leaves loses its folder.
	loses  bool
	owners []int
	deaf   int
}

// String implements fmt.Stringer.
func (s shift) String() string {
	switch {
	case s.leaves != nobody:
		return fmt.Sprintf("trainer %d leaves (with its machine: %v, its folder: %v)", s.leaves, s.machine, s.loses)
	case s.joins != nobody:
		return fmt.Sprintf("trainer %d joins", s.joins)
	default:
		return fmt.Sprintf("the partitions go to %v, and trainer %d does not hear of it", s.owners, s.deaf)
	}
}

// several draws that some train together, and what happens to them.
func (d *drawing) several(chance *rand.Rand) {
	trainers := 2 + chance.IntN(2)
	d.trainers = trainers
	for range 1 + chance.IntN(5) {
		s := shift{leaves: nobody, joins: nobody, deaf: nobody}
		switch chance.IntN(4) {
		case 0:
			s.leaves, s.machine = chance.IntN(trainers), chance.IntN(2) == 0
		case 1:
			s.joins = chance.IntN(trainers)
		default:
			for range partitions[bus.Slices] {
				s.owners = append(s.owners, chance.IntN(trainers+1)-1)
			}
			s.deaf = chance.IntN(2*trainers) - trainers
		}
		d.insert(chance.IntN(len(d.events)+1), operation{shift: &s})
	}
}

// pauses draws that everything comes to rest a few times.
func (d *drawing) pauses(chance *rand.Rand) {
	for range chance.IntN(5) {
		d.insert(chance.IntN(len(d.events)+1), operation{pause: true})
	}
}
