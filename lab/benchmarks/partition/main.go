package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"

	"lethe/partition"
)

type cli struct {
	Growth   growthCmd   `cmd:"" help:"${growth}"`
	Real     realCmd     `cmd:"" help:"${real}"`
	Tradeoff tradeoffCmd `cmd:"" help:"${tradeoff}"`
}

// common are the flags of the commands that only partition.
type common struct {
	Shards int    `default:"${shards}" help:"Number of shards."`
	Method string `default:"${method}" help:"Method that proposes."`
	Metis  string `help:"METIS program to run beside ours on the same graphs, for example gpmetis; left out if empty."`
}

// vars are the texts that are too long for a tag, and defaults of package partition.
func vars() kong.Vars {
	cut := partition.Defaults()
	return kong.Vars{
		"shards": fmt.Sprint(cut.Shards),
		"method": cut.Method,
		"growth": "Partition graphs with planted communities from 10,000 to a million nodes. " +
			"Example: partition growth --plot docs/img/partition-growth",
		"real": "Partition Cora, CiteSeer and Bitcoin-OTC. " +
			"Example: partition real --data ../shared/data --metis gpmetis",
		"tradeoff": "Train models on partitions with many and few cut edges: quality against shards per erasure. " +
			"Example: partition tradeoff --data ../shared/data --out tradeoff --plot docs/img/partition-tradeoff",
		"data": "Folder with planetoid/cora.npz, planetoid/citeseer.npz and bitcoin-otc/elliptic-format.",
		"out":  "Folder for finished measurements: a run that was interrupted goes on.",
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	parser := kong.Parse(&cli{}, kong.Name("partition"),
		kong.Description("Measures the partitioner; all tables go to standard output."), vars(),
		kong.BindTo(ctx, (*context.Context)(nil)))
	parser.FatalIfErrorf(parser.Run())
}
