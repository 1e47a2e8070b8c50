package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service"
)

const (
	// brokerTimeout bounds all queries of brokers.
	brokerTimeout = 15 * time.Second
	// mostAhead is how far this clock may be behind that of a record's writer.
	mostAhead = 10 * time.Second
)

// brokers checks brokers, and their topics.
func (f *findings) brokers(ctx context.Context, o Options) {
	const check = "brokers"
	if o.Config.UsesEmbeddedBroker() {
		f.embedded(o)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, brokerTimeout)
	defer cancel()
	client, err := bus.Open(o.Config.Kafka)
	if err != nil {
		f.bad(check, err.Error(), "correct the section kafka of the configuration")
		return
	}
	defer client.Close()
	switch err := client.Ping(ctx); {
	case errors.Is(err, bus.ErrRefused):
		f.bad(check, err.Error(), "correct the setting that is named, or let lethe in")
		return
	case err != nil:
		f.bad(check, err.Error(), "start the brokers, or correct kafka.brokers; look for a firewall between")
		return
	}
	away, all := client.Admin().Unreachable(ctx)
	for _, err := range away {
		f.bad(check, err.Error(), "start that broker, or have its advertised.listeners name an address that this machine "+
			"reaches; look for a firewall between")
	}
	if len(away) == all {
		return
	}
	f.ok(check, fmt.Sprintf("%s answer, and so do %d of %d at the addresses that they advertise",
		strings.Join(o.Config.Kafka.Brokers, ", "), all-len(away), all))
	if f.topics(ctx, client) {
		f.rights(ctx, client)
		f.clock(ctx, o, client)
	}
}

// embedded reports that the process runs its own broker, and whether its log exists.
func (f *findings) embedded(o Options) {
	path := service.BrokerDir(o.Config.DataDir)
	if _, err := os.Stat(configs.InstancePath(o.Config.DataDir)); err != nil {
		f.ok("brokers", "no broker is named: lethe brings its own, for one process")
		return
	}
	if _, err := os.Stat(path); err != nil {
		f.bad("brokers", "the data directory was begun, and the embedded broker's log is gone: "+path,
			"put the directory back from a backup (lethe backup restore)")
		return
	}
	f.ok("brokers", "no broker is named: lethe brings its own, for one process, with its log in "+path)
}

// topics compares the topics with their required configuration. It reports whether any exist.
func (f *findings) topics(ctx context.Context, client *bus.Client) bool {
	const check = "topics"
	problems, err := client.Admin().Check(ctx)
	if err != nil {
		f.bad(check, err.Error(), "see that lethe's principal may describe topics and their settings (lethe topics acls)")
		return false
	}
	for _, p := range problems {
		if p.Follows() != "" {
			f.warn(check, p.Warning(), "lethe topics apply sets it, if the brokers let it")
			continue
		}
		f.bad(check, p.String(), "lethe topics plan says what mends it, lethe topics apply does what can be done without you")
	}
	if len(problems) == 0 {
		f.ok(check, fmt.Sprintf("%d topics are as they should be", len(bus.Topics())))
	}
	there, err := client.Admin().Partitions(ctx)
	return err == nil && len(there) == len(bus.Topics())
}

// rights checks that lethe has the rights it needs.
func (f *findings) rights(ctx context.Context, client *bus.Client) {
	if err := client.Admin().HasRights(ctx); err != nil {
		f.bad("rights", err.Error(), "lethe topics acls --apply, by somebody who may")
		return
	}
	f.ok("rights", "lethe may read, write and describe its topics")
}

// clock compares the local time with the newest timestamp of a record: times in the ledger, and the
// deadlines of requests, depend on it.
func (f *findings) clock(ctx context.Context, o Options, client *bus.Client) {
	const check = "clock"
	var newest time.Time
	err := client.ReadAll(ctx, bus.Control, func(rec ingest.Record) error {
		if rec.Time.After(newest) {
			newest = rec.Time
		}
		return nil
	})
	now := o.Now()
	switch {
	case err != nil:
		f.warn(check, "the clocks of others are not known: "+err.Error(), "compare them by hand")
	case newest.IsZero():
		f.ok(check, "no record says what time others have")
	case newest.After(now.Add(mostAhead)):
		f.bad(check, fmt.Sprintf("it is %s behind a record on %s", newest.Sub(now).Round(time.Second), bus.Control),
			"set the clock (chrony or another time service), here or where that was written")
	default:
		f.ok(check, "it is not behind what others wrote")
	}
}
