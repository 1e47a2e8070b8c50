// Command lethe scores evolving transaction graphs for fraud and can forget.
//
// There is one file per command; a command parses its flags and wires packages
// together, nothing more. Experiments on data sets are the command lethe-lab's.
package main

import (
	"maps"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/internal/command"
)

// version is set at link time by the Makefile.
var version = "dev"

type cli struct {
	Run      runCmd      `cmd:"" help:"Run the service."`
	Demo     demoCmd     `cmd:"" help:"Run a stream through an embedded broker, one erasure included."`
	Status   statusCmd   `cmd:"" help:"Show the state of a running service."`
	Generate generateCmd `cmd:"" help:"Make an Elliptic-style stream with laundering typologies."`
	Replay   replayCmd   `cmd:"" help:"Publish a dataset to the topics."`
	Erase    eraseCmd    `cmd:"" help:"Submit and follow erasure requests."`
	Keys     keysCmd     `cmd:"" help:"Make and check keys that sign; make a data directory anew under another secret."`
	Hold     holdCmd     `cmd:"" help:"Keep transactions from being erased, for a reason."`
	Members  membersCmd  `cmd:"" help:"List who plays the roles, and strike off who will not come back."`
	Backup   backupCmd   `cmd:"" help:"Copy a data directory, or put a copy back without what was erased since."`
	Tokens   tokensCmd   `cmd:"" help:"Make tokens that get into the API."`
	DLQ      dlqCmd      `cmd:"" name:"dlq" help:"Look at records that could not be taken, and send them again."`
	Receipt  receiptCmd  `cmd:"" help:"Check erasure receipts, offline."`
	Audit    auditCmd    `cmd:"" help:"Check a deployment by training anew what is drawn of its log."`
	Log      logCmd      `cmd:"" help:"Check the transparency log, or print its checkpoint."`
	Verify   verifyCmd   `cmd:"" help:"Check the invariants of a data directory."`
	Config   configCmd   `cmd:"" help:"Print or validate the configuration."`
	Doctor   doctorCmd   `cmd:"" help:"Look for what is wrong with a deployment, and say what to do about it."`
	Trace    traceCmd    `cmd:"" help:"Print the name of a trace."`
	Topics   topicsCmd   `cmd:"" help:"Plan, create or check the topics and their ACLs."`
	Version  versionCmd  `cmd:"" help:"Print the version and the kernel set."`

	Completion command.Completion `cmd:"" help:"Print what a shell needs to complete command lines."`
	Man        command.Man        `cmd:"" help:"Print the manual page."`
}

func main() { os.Exit(command.Main(program(), version)) }

// vars are what help texts and defaults of flags take from the packages that own them.
func vars() kong.Vars {
	c := configs.Default()
	out := kong.Vars{
		"own_broker":   net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Embedded.Port)),
		"topic_prefix": c.Kafka.TopicPrefix,
		"scope":        string(c.Erasure.DefaultScope),
		"scopes":       strings.Join(lethe.SupportedScopes(), ", "),
	}
	maps.Copy(out, command.VarsOf("generate", dataset.GenerateDefaults()))
	return out
}

func program() command.Program {
	const lab = "lethe-lab"
	return command.Program{
		Name: "lethe",
		Description: "Scores evolving transaction graphs for fraud, and can forget: what is served after an erasure is " +
			"byte-identical to a build that never saw the record, given the other transactions' shards.\n\n" +
			"Example:\n  lethe demo",
		Commands:  &cli{},
		Vars:      vars(),
		Elsewhere: map[string]string{"partition": lab, "train": lab, "evaluate": lab, "attack": lab},
	}
}
