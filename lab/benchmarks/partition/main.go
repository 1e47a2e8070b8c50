package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"
)

type cli struct {
	Growth   growthCmd   `cmd:"" help:"${growth}"`
	Real     realCmd     `cmd:"" help:"${real}"`
	Tradeoff tradeoffCmd `cmd:"" help:"${tradeoff}"`
}

// common are the flags of the commands that only partition.
type common struct {
	Shards int    `default:"20" help:"Number of shards."`
	Method string `default:"gpfb-fast" help:"Method that proposes."`
	Metis  string `help:"METIS program to run beside ours on the same graphs, for example gpmetis; left out if empty."`
}

// help are the texts that are too long for a tag.
func help() kong.Vars {
	return kong.Vars{
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
		kong.Description("Measures the partitioner; all tables go to standard output."), help(),
		kong.BindTo(ctx, (*context.Context)(nil)))
	parser.FatalIfErrorf(parser.Run())
}
