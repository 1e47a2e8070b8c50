package dataset

import (
	"errors"
	"strconv"
	"strings"

	"lethe"
)

// ParseSteps parses a range of timesteps from a command line: "30-34", inclusive, or "30" for one.
// Slice checks that the data set contains it.
func ParseSteps(text string) (from, to lethe.Timestep, err error) {
	first, second, isRange := strings.Cut(text, "-")
	if !isRange {
		second = first
	}
	a, errA := strconv.ParseUint(first, 10, 62)
	b, errB := strconv.ParseUint(second, 10, 62)
	if errA != nil || errB != nil {
		return 0, 0, errors.New("timesteps are written A-B or A, with whole numbers that are not negative")
	}
	if a > b {
		return 0, 0, errors.New("timesteps A-B: A is after B")
	}
	return lethe.Timestep(a), lethe.Timestep(b), nil
}
