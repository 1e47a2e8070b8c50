// Command partition measures the partitioner: how time and memory grow with the
// graph, how it compares with METIS on the same graphs in the same run, and what
// its choices mean for the quality of models and the cost of erasures.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"
)

type cli struct {
	Growth   growthCmd   `cmd:"" help:"Partition graphs with planted communities from 10,000 to a million nodes. Example: partition growth --plot docs/img/partition-growth"`
	Real     realCmd     `cmd:"" help:"Partition Cora, CiteSeer and Bitcoin-OTC. Example: partition real --data ../shared/data --metis gpmetis"`
	Tradeoff tradeoffCmd `cmd:"" help:"Train models on partitions with many and few cut edges: quality against shards per erasure. Example: partition tradeoff --data ../shared/data --out tradeoff --plot docs/img/partition-tradeoff"`
}

// common are the flags of the commands that only partition.
type common struct {
	Shards int    `default:"20" help:"Number of shards."`
	Method string `default:"gpfb-fast" help:"Method that proposes."`
	Metis  string `help:"METIS program to run beside ours on the same graphs, for example gpmetis; left out if empty."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	parser := kong.Parse(&cli{}, kong.Name("partition"),
		kong.Description("Measures the partitioner; all tables go to standard output."),
		kong.BindTo(ctx, (*context.Context)(nil)))
	parser.FatalIfErrorf(parser.Run())
}
