// Command lethe-lab tries lethe's method on data sets: it partitions them, trains
// and measures sharded models, makes the tables of the paper's evaluation and
// attacks what an erasure leaves. The service and its operators need none of it;
// they have the command lethe.
//
// There is one file per command; a command parses its flags and wires packages
// together, nothing more.
package main

import (
	"os"

	"lethe/internal/command"
)

// version is set at link time by the Makefile.
var version = "dev"

type cli struct {
	Partition partitionCmd `cmd:"" help:"Partition a dataset and score the partition."`
	Train     trainCmd     `cmd:"" help:"Train sharded models on a dataset and measure them, offline."`
	Evaluate  evaluateCmd  `cmd:"" help:"Reproduce the tables and figures of the paper's evaluation."`
	Attack    attackCmd    `cmd:"" help:"Attack what remains after an erasure, with positive controls."`
}

func main() { os.Exit(command.Main(program(), version)) }

func program() command.Program {
	return command.Program{
		Name: "lethe-lab",
		Description: "Partitions data sets, trains and measures sharded models, reproduces the paper's evaluation and " +
			"attacks what remains after an erasure.\n\nExample:\n  lethe-lab train --dataset cora.npz --shards 20 --model sage",
		Commands: &cli{},
		Vars:     vars(),
	}
}
