package silence_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/integration/process"
)

const (
	transactions = "lethe.transactions.v1"
	labels       = "lethe.labels.v1"
	erasures     = "lethe.erasures.v1"
	partitions   = 2
	features     = 3
)

// deployment is a process of lethe, and a producer that sends it records.
type deployment struct {
	*process.Service
	t        *testing.T
	bin, dir string
	ports    process.Ports
	args     []string
	producer *kgo.Client
	// at is the timestep that was sent last, sent counts transactions.
	at   lethe.Timestep
	sent int
	// ids are those of the transactions that were sent, by number.
	ids map[int]lethe.TransactionID
}

// settingsOf are the flags of a deployment that trains in a moment.
func settingsOf(more ...string) (args []string) {
	sets := []string{
		"kafka.partitions=2", "partition.shards=2", "trainer.hidden=4", "trainer.passes=1", "trainer.model=logistic",
	}
	for _, set := range append(sets, more...) {
		args = append(args, "--set", set)
	}
	return args
}

// deploy starts a process with all roles on its own broker, and sends it two timesteps that settle.
func deploy(t *testing.T, bin, dir string, settings ...string) *deployment {
	t.Helper()
	d := &deployment{
		t: t, bin: bin, dir: filepath.Join(dir, "data"), args: settingsOf(settings...), ports: process.FreePorts(t),
		ids: make(map[int]lethe.TransactionID),
	}
	d.Service = process.Start(t, bin, d.dir, d.ports, d.args...)
	d.begin()
	return d
}

// begin sends two timesteps that settle.
func (d *deployment) begin() {
	d.producer = producerOf(d.t, d.Brokers)
	for range 2 {
		d.whole()
	}
}

// producerOf returns a client that writes to the partition that each record names.
func producerOf(t *testing.T, brokers string, more ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(brokers), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MaxVersions(kversion.V3_5_0()),
	}, more...)...)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// send writes records one after the other.
func (d *deployment) send(records ...*kgo.Record) {
	d.t.Helper()
	require.NoError(d.t, d.producer.ProduceSync(d.t.Context(), records...).FirstErr())
}

func record(topic string, partition int, key, value []byte) *kgo.Record {
	return &kgo.Record{Topic: topic, Partition: int32(partition), Key: key, Value: value}
}

// transaction returns a record of a new transaction of a timestep.
func (d *deployment) transaction(at lethe.Timestep, partition int) *kgo.Record {
	d.t.Helper()
	name := d.name(partition)
	row := make([]float32, features)
	for i := range row {
		row[i] = float32(d.sent*(i+1)%7)/14 + float32(d.sent%2) // illicit ones are odd, see label
	}
	key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: name, Timestep: at, Features: row})
	require.NoError(d.t, err)
	return record(transactions, partition, key, value)
}

// name returns the id of the next transaction, which belongs to a partition.
func (d *deployment) name(partition int) lethe.TransactionID {
	d.sent++
	id := fmt.Sprintf("tx-%d", d.sent)
	for more := 0; bus.PartitionOf([]byte(id), partitions) != partition; more++ {
		id = fmt.Sprintf("tx-%d-%d", d.sent, more)
	}
	d.ids[d.sent] = lethe.TransactionID(id)
	return lethe.TransactionID(id)
}

// id is that of a transaction by its number, from 1.
func (d *deployment) id(n int) lethe.TransactionID { return d.ids[n] }

// payment returns a record of a payment of the latest timestep.
func (d *deployment) payment(source, target lethe.TransactionID) *kgo.Record {
	d.t.Helper()
	key, value, err := ingest.EncodePayment(lethe.Payment{Source: source, Target: target, Timestep: d.at})
	require.NoError(d.t, err)
	return record(transactions, bus.PartitionOf(key, partitions), key, value)
}

// some sends transactions of a timestep to partitions, and returns the number of the last.
func (d *deployment) some(at lethe.Timestep, in ...int) int {
	d.t.Helper()
	for range 12 {
		for _, p := range in {
			d.send(d.transaction(at, p))
		}
	}
	return d.sent
}

// label sends labels of the latest transactions.
func (d *deployment) label(at lethe.Timestep, count int) {
	d.t.Helper()
	for n := d.sent - count + 1; n <= d.sent; n++ {
		label := []lethe.Label{lethe.Licit, lethe.Illicit}[n%2]
		key, value, err := ingest.EncodeLabel(lethe.LabelRecord{ID: d.id(n), Timestep: at, Label: label})
		require.NoError(d.t, err)
		d.send(record(labels, bus.PartitionOf(key, partitions), key, value))
	}
}

// close sends close records to partitions, settle sends settle records.
func (d *deployment) close(at lethe.Timestep, in ...int) {
	d.t.Helper()
	for _, p := range in {
		key, value := ingest.EncodeClose(at, p)
		d.send(record(transactions, p, key, value))
	}
}

func (d *deployment) settle(at lethe.Timestep, in ...int) {
	d.t.Helper()
	for _, p := range in {
		key, value := ingest.EncodeSettle(at, p)
		d.send(record(labels, p, key, value))
	}
}

// next is a new timestep.
func (d *deployment) next() lethe.Timestep {
	d.at++
	return d.at
}

// whole sends a timestep that closes and settles.
func (d *deployment) whole() {
	d.t.Helper()
	at := d.next()
	d.some(at, 0, 1)
	d.label(at, 12)
	d.finish(at)
}

// finish closes and settles a timestep.
func (d *deployment) finish(at lethe.Timestep) {
	d.t.Helper()
	d.close(at, 0, 1)
	d.settle(at, 0, 1)
}

// ready reports whether traffic may come.
func (d *deployment) ready() bool {
	client := http.Client{Timeout: 5 * time.Second}
	answer, err := client.Get(d.URL + "/readyz")
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

// lines are those of the log that hold a text.
func (d *deployment) lines(text string) (out []string) {
	for line := range strings.Lines(d.Log()) {
		if strings.Contains(line, text) {
			out = append(out, line)
		}
	}
	return out
}
