// Command lethe scores evolving transaction graphs for fraud and can erase records from them.
//
// There is one file per command; a command only parses its flags and wires packages together.
// Experiments on data sets are in the command lethe-lab.
package main

import (
	"maps"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"lethe"
	"lethe/dataset"
	"lethe/internal/command"
)

// version is set at link time by the Makefile.
var version = "dev"

type cli struct {
	Run      runCmd      `cmd:"" help:"Run the service."`
	Demo     demoCmd     `cmd:"" help:"Run a stream through an embedded broker, erase one transaction and prove it."`
	Status   statusCmd   `cmd:"" help:"Show the state of a running service."`
	Generate generateCmd `cmd:"" help:"Generate an Elliptic-style stream with money-laundering patterns."`
	Replay   replayCmd   `cmd:"" help:"Publish a dataset to the topics."`
	Erase    eraseCmd    `cmd:"" help:"Submit and follow erasure requests."`
	Keys     keysCmd     `cmd:"" help:"Generate, check and seal keys, and rotate a deployment's secret."`
	Hold     holdCmd     `cmd:"" help:"Place and lift holds, which protect transactions from erasure."`
	Members  membersCmd  `cmd:"" help:"List the data directories of a deployment, and remove those that are lost."`
	Backup   backupCmd   `cmd:"" help:"Back up a data directory, and restore it without what was erased since."`
	Tokens   tokensCmd   `cmd:"" help:"Generate access tokens for the API."`
	DLQ      dlqCmd      `cmd:"" name:"dlq" help:"Inspect rejected records (dead letters) and send them again."`
	Receipt  receiptCmd  `cmd:"" help:"Verify, list and export erasure receipts, offline."`
	Audit    auditCmd    `cmd:"" help:"Audit a deployment: retrain a random sample of its models and compare."`
	Log      logCmd      `cmd:"" help:"Verify the transparency log, print it, and rotate its key."`
	Verify   verifyCmd   `cmd:"" help:"Check the invariants of a data directory."`
	Config   configCmd   `cmd:"" help:"Print or validate the configuration, or print its schema."`
	Doctor   doctorCmd   `cmd:"" help:"Find what is wrong with a deployment, and how to fix it."`
	Trace    traceCmd    `cmd:"" help:"Print the trace id of an erasure, a transaction or a timestep."`
	Topics   topicsCmd   `cmd:"" help:"Plan, create and check topics, print their schemas and ACLs."`
	Version  versionCmd  `cmd:"" help:"Print the version and the kernel set."`

	Completion command.Completion `cmd:"" help:"Print the setup for completion in a shell."`
	Man        command.Man        `cmd:"" help:"Print the manual page."`
}

func main() { os.Exit(command.Main(program(), version)) }

// vars are the values of help texts and flag defaults that packages define.
func vars() kong.Vars {
	out := kong.Vars{"scopes": strings.Join(lethe.SupportedScopes(), ", ")}
	maps.Copy(out, command.VarsOf("generate", dataset.GenerateDefaults()))
	return out
}

func program() command.Program {
	const lab = "lethe-lab"
	return command.Program{
		Name: "lethe",
		Description: "Scores evolving transaction graphs for fraud, and can forget: what is served after an erasure is " +
			"byte-identical to a build that never saw the record, given the other transactions' shards.\n\n" +
			"Experiments on data sets are commands of lethe-lab.\n\n" +
			"Example:\n  lethe demo",
		Commands:  &cli{},
		Vars:      vars(),
		Elsewhere: map[string]string{"partition": lab, "train": lab, "evaluate": lab, "attack": lab},
	}
}
