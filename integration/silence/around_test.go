package silence_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/integration/process"
	"lethe/service/waiting"
)

// diskStops are those of a small disk.
func diskStops() []stop {
	return []stop{
		{"a disk that is nearly full", waiting.DiskFull, "MiB free", false,
			func(d *deployment) func() { return d.fill(400 << 20) }},
		{"a disk that is full", waiting.DiskFull, "files cannot be written", true, func(d *deployment) func() {
			free := d.fill(1 << 40)
			end := d.repeatedly(func() { d.producer.Produce(d.t.Context(), d.transaction(d.at, 0), nil) })
			return func() { end(); free() }
		}},
	}
}

// small mounts a disk on which a deployment has room, and not much, which takes rights.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=800m", "tmpfs", dir).CombinedOutput()
	if err != nil {
		t.Skipf("no small disk can be mounted here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
	return dir
}

// fill writes a file of some bytes, or until there is no room, and returns what removes it.
func (d *deployment) fill(most int64) (free func()) {
	d.t.Helper()
	path := filepath.Join(d.dir, "filler")
	f, err := os.Create(path)
	require.NoError(d.t, err)
	block := make([]byte, 1<<16)
	for size := int64(0); err == nil && size < most; size += int64(len(block)) {
		_, err = f.Write(block)
	}
	for one := []byte{0}; err == nil && most == 1<<40; {
		_, err = f.Write(one)
	}
	require.NoError(d.t, f.Close())
	return func() { require.NoError(d.t, os.Remove(path)) }
}

// aroundStops are those of what a deployment stands on.
func aroundStops(receiver *receiver) []stop {
	return []stop{
		{"a store of models that takes no writes", waiting.DiskFull, "files cannot be written", true,
			func(d *deployment) func() {
				undo := d.readOnly("train")
				d.whole()
				return undo
			}},
		{"few file descriptors are left", waiting.FileDescriptors, "file descriptors are in use", false, descriptors},
		{"records of a topic expire", waiting.TopicsWrong, "cleanup.policy", true, func(d *deployment) func() {
			d.policy("delete")
			return func() { d.policy("compact") }
		}},
		{"a receiver of alerts that refuses them", waiting.AlertsUndelivered, "has not taken", false,
			func(d *deployment) func() {
				receiver.status.Store(http.StatusInternalServerError)
				d.whole()
				d.whole()
				return func() { receiver.status.Store(http.StatusOK) }
			}},
	}
}

// lastingStops stay until topics and data directories are begun anew.
func lastingStops() []stop {
	return []stop{
		{"partitions that were added", waiting.TopicsWrong, "it has 5 partitions", true, func(d *deployment) func() {
			client := kafka.Client{Addr: kafka.TCP(d.Brokers)}
			_, err := client.CreatePartitions(d.t.Context(), &kafka.CreatePartitionsRequest{
				Topics: []kafka.TopicPartitionsConfig{{Name: transactions, Count: 5}},
			})
			require.NoError(d.t, err)
			return nil
		}},
	}
}

// removedStops are those of a broker that removes records that were not read.
func removedStops() []stop {
	return []stop{
		{"records removed unread", waiting.TopicsWrong, "were not read and never will be", true, func(d *deployment) func() {
			abort := openTransaction(transactions, 0)(d) // nothing behind it is read
			d.some(d.next(), 0)
			d.setting("retention.ms", "1")
			require.Eventually(d.t, func() bool { return d.begins(transactions, 0) > 0 }, promise, poll)
			abort()
			return nil
		}},
	}
}

// deletedStops are those of a topic that is deleted, and made again.
func deletedStops() []stop {
	return []stop{
		{"a topic that is deleted", waiting.BrokersAway, "partition does not exist", true, func(d *deployment) func() {
			client := kafka.Client{Addr: kafka.TCP(d.Brokers)}
			answer, err := client.DeleteTopics(d.t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{labels}})
			require.NoError(d.t, err)
			require.NoError(d.t, answer.Errors[labels])
			return nil // made again, it is not what it was
		}},
		{"a topic that is made anew", waiting.TopicsWrong, "deleted and created again", true, func(d *deployment) func() {
			d.run("topics", "apply", "--set", "kafka.partitions=2")
			d.within("brokers serve it again", func() bool {
				status, _ := d.Status()
				return !slices.ContainsFunc(status.Waiting, func(w waiting.Wait) bool { return w.Cause == waiting.BrokersAway })
			})
			return nil
		}},
	}
}

// begins is the offset at which a partition's log begins.
func (d *deployment) begins(topic string, partition int) int64 {
	d.t.Helper()
	client := kafka.Client{Addr: kafka.TCP(d.Brokers)}
	answer, err := client.ListOffsets(d.t.Context(), &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{topic: {kafka.FirstOffsetOf(partition)}},
	})
	require.NoError(d.t, err)
	return answer.Topics[topic][0].FirstOffset
}

// policy is the cleanup policy of transactions.
func (d *deployment) policy(value string) { d.setting("cleanup.policy", value) }

// setting sets a setting of transactions.
func (d *deployment) setting(name, value string) {
	d.t.Helper()
	client := kafka.Client{Addr: kafka.TCP(d.Brokers)}
	answer, err := client.IncrementalAlterConfigs(d.t.Context(), &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: transactions,
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{{
				Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet,
			}},
		}},
	})
	require.NoError(d.t, err)
	require.NoError(d.t, answer.Resources[0].Error)
}

// readOnly keeps anything from being made in a folder of the data directory and below, which takes rights.
func (d *deployment) readOnly(folder string) (undo func()) {
	d.t.Helper()
	path := filepath.Join(d.dir, folder)
	if out, err := exec.Command("chattr", "-R", "+i", path).CombinedOutput(); err != nil {
		d.t.Skipf("folders cannot be made read-only here: %s", out)
	}
	var once atomic.Bool
	undo = func() {
		if once.CompareAndSwap(false, true) {
			require.NoError(d.t, exec.Command("chattr", "-R", "-i", path).Run())
		}
	}
	d.t.Cleanup(undo)
	return undo
}

// descriptors keeps how many files the process may have open a little above how many it has.
func descriptors(d *deployment) func() {
	limit := func(soft int) error {
		return exec.Command("prlimit", "--pid", strconv.Itoa(d.PID()), fmt.Sprintf("--nofile=%d:", soft)).Run()
	}
	if err := limit(4096); err != nil {
		d.t.Skipf("limits of processes cannot be set here: %v", err)
	}
	end := d.repeatedly(func() {
		if open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", d.PID())); err == nil {
			limit(len(open) + len(open)/15)
		}
		time.Sleep(200 * time.Millisecond)
	})
	return func() {
		end()
		require.NoError(d.t, limit(4096))
	}
}

// receiver takes alerts.
type receiver struct {
	url, secret string
	status      atomic.Int32
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.status.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(r.status.Load()))
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	r.secret = process.WriteFile(t, "webhook", "whsec_"+base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	return r
}

// settings are those of a deployment that posts alerts to the receiver.
func (r *receiver) settings() []string {
	return []string{
		"webhooks.url=" + r.url, "webhooks.secret_file=" + r.secret, "webhooks.allow_private=true", "webhooks.tries=1000",
		"webhooks.first_wait=" + (200 * time.Millisecond).String(), "webhooks.longest_wait=1s",
	}
}
