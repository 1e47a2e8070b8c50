package command_test

import (
	"maps"
	"testing"

	"lethe/internal/command"
)

type drawn struct {
	Seed uint64 `help:"Seed of every draw."`
}

type cut struct {
	drawn
	MinStubs int `help:"Least number of stubs."`
	Hidden   int
}

// TestVarsOfConfiguration: flags take help and defaults from the fields that have
// help, those of embedded structs too.
func TestVarsOfConfiguration(t *testing.T) {
	got := command.VarsOf("cut", cut{drawn: drawn{Seed: 7}, MinStubs: 4, Hidden: 2})
	want := map[string]string{
		"cut_seed": "Seed of every draw.", "cut_seed_default": "7",
		"cut_min_stubs": "Least number of stubs.", "cut_min_stubs_default": "4",
	}
	if !maps.Equal(got, want) {
		t.Errorf("variables %v, want %v", got, want)
	}
}
