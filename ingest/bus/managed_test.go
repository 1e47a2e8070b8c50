package bus_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest/bus"
)

const (
	denied          = 29
	policyViolation = 44
)

// manages has a cluster refuse settings as managed brokers do: a topic is created, and settings are changed, all or
// none.
func manages(cluster *kfake.Cluster, settings ...string) {
	refused := func(name string) bool { return slices.Contains(settings, name) }
	cluster.ControlKey(int16(kmsg.CreateTopics), func(asked kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		req := asked.(*kmsg.CreateTopicsRequest)
		answer := req.ResponseKind().(*kmsg.CreateTopicsResponse)
		bad := false
		for _, topic := range req.Topics {
			one := kmsg.NewCreateTopicsResponseTopic()
			one.Topic = topic.Topic
			if slices.ContainsFunc(topic.Configs, func(c kmsg.CreateTopicsRequestTopicConfig) bool { return refused(c.Name) }) {
				one.ErrorCode, bad = policyViolation, true
			}
			answer.Topics = append(answer.Topics, one)
		}
		return answer, nil, bad || req.ValidateOnly
	})
	cluster.ControlKey(int16(kmsg.IncrementalAlterConfigs), func(asked kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		req := asked.(*kmsg.IncrementalAlterConfigsRequest)
		answer := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
		bad := false
		for _, resource := range req.Resources {
			one := kmsg.NewIncrementalAlterConfigsResponseResource()
			one.ResourceType, one.ResourceName = resource.ResourceType, resource.ResourceName
			if slices.ContainsFunc(resource.Configs,
				func(c kmsg.IncrementalAlterConfigsRequestResourceConfig) bool { return refused(c.Name) }) {
				one.ErrorCode, bad = policyViolation, true
			}
			answer.Resources = append(answer.Resources, one)
		}
		return answer, nil, bad
	})
}

// settingsOf are the names of the settings that problems name.
func settingsOf(problems []bus.Problem) (names []string) {
	for _, p := range problems {
		names = append(names, p.Setting)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Managed brokers refuse settings that lethe wants (B6): it runs without them, and what follows from each is known.
func TestApply_RefusedSettings_AreWarnings(t *testing.T) {
	cluster, b := crowded(t, bus.Labels) // one topic is there, the others are created
	manages(cluster, "segment.bytes", "min.cleanable.dirty.ratio", "delete.retention.ms", "message.timestamp.type")
	c := client(t, b, nil)
	for range 2 { // also at the next start
		require.NoError(t, c.Admin().Apply(t.Context()))
		problems, err := c.Admin().Check(t.Context())
		require.NoError(t, err)
		require.Contains(t, settingsOf(problems), "delete.retention.ms")
		require.NotContains(t, settingsOf(problems), "segment.ms", "what the brokers allow is set")
		for _, p := range problems {
			if p.Setting != "partitions" {
				require.NotEmpty(t, p.Follows(), p)
				require.Contains(t, p.Warning(), p.String()+": ")
			}
		}
	}
}

// A setting that lethe cannot run without is named, each topic and setting on a line of its own.
func TestApply_RefusedSettingsThatAreNeeded_AreNamed(t *testing.T) {
	cluster, b := crowded(t)
	manages(cluster, "segment.bytes", "cleanup.policy", "max.message.bytes")
	c := client(t, b, nil)
	err := c.Admin().Apply(t.Context())
	require.Error(t, err)
	require.False(t, bus.MayPass(err), "%v", err)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 2*len(bus.Topics()), err)
	name := c.Name(bus.Transactions)
	require.Contains(t, lines[0], "create topic "+name+": the brokers refuse cleanup.policy=compact, "+
		"which lethe cannot run without")
	require.NotContains(t, err.Error(), "segment.bytes")
}

// A topic that is there and has a needed setting wrong, which brokers do not change.
func TestApply_NeededSettingThatStaysWrong_IsNamed(t *testing.T) {
	cluster, b := crowded(t)
	c := client(t, b, nil)
	require.NoError(t, c.Admin().Apply(t.Context()))
	setTopic(t, b, c.Name(bus.Labels), "cleanup.policy", "delete")
	setTopic(t, b, c.Name(bus.Labels), "segment.ms", "600000")
	manages(cluster, "cleanup.policy", "segment.ms")
	err := c.Admin().Apply(t.Context())
	require.ErrorContains(t, err, "labels.v1: cleanup.policy is delete, want compact, and lethe cannot run without it")
	require.NotContains(t, err.Error(), "segment.ms")
}

// Brokers that do not show topics' settings are believed: a warning names each topic.
func TestCheck_HiddenSettings_AreAWarning(t *testing.T) {
	cluster, b := crowded(t)
	var mu sync.Mutex
	hidden := false
	cluster.ControlKey(int16(kmsg.DescribeConfigs), func(asked kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		req := asked.(*kmsg.DescribeConfigsRequest)
		answer := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
		for _, resource := range req.Resources {
			one := kmsg.NewDescribeConfigsResponseResource()
			one.ResourceType, one.ResourceName, one.ErrorCode = resource.ResourceType, resource.ResourceName, denied
			answer.Resources = append(answer.Resources, one)
		}
		return answer, nil, hidden
	})
	c := client(t, b, nil)
	mu.Lock()
	hidden = true
	mu.Unlock()
	require.NoError(t, c.Admin().Apply(t.Context()))
	problems, err := c.Admin().Check(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, len(bus.Topics()))
	require.Equal(t, []string{"settings"}, settingsOf(problems))
	require.Contains(t, problems[0].Warning(), "transactions.v1: settings is hidden, want readable "+
		"(DescribeConfigs): nobody knows")
	planned, err := c.Admin().Plan(t.Context())
	require.NoError(t, err)
	require.Empty(t, planned)
}

// The documents have what follows from each setting.
func TestFollows_IsInTheDocuments(t *testing.T) {
	text, err := os.ReadFile("../../docs/kafka.md")
	require.NoError(t, err)
	for _, setting := range []string{
		"segment.bytes", "segment.ms", "max.compaction.lag.ms", "min.cleanable.dirty.ratio", "delete.retention.ms",
		"file.delete.delay.ms", "compression.type", "message.timestamp.type", "min.insync.replicas",
	} {
		row := regexp.MustCompile("(?m)^\\| .*`" + regexp.QuoteMeta(setting) + "`.* \\| (.*) \\|$").FindSubmatch(text)
		require.NotNil(t, row, setting)
		require.Equal(t, bus.Problem{Setting: setting}.Follows(), string(row[1]))
	}
	for _, needed := range []string{"cleanup.policy", "max.message.bytes", "retention.ms", "retention.bytes"} {
		require.Empty(t, bus.Problem{Setting: needed}.Follows())
	}
}

// A broker that has not heard yet of topics that were just created is asked again: on a cluster of three the answer of
// one that lags behind ended lethe topics apply.
func TestApply_BrokerThatLagsBehind_IsAskedAgain(t *testing.T) {
	cluster, b := crowded(t)
	const unknownTopic, times = 3, 2
	created, lagged := false, 0
	cluster.ControlKey(int16(kmsg.CreateTopics), func(kmsg.Request) (kmsg.Response, error, bool) {
		created = true
		return nil, nil, false
	})
	cluster.ControlKey(int16(kmsg.DescribeConfigs), func(asked kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if !created || lagged == times {
			return nil, nil, false
		}
		lagged++
		req := asked.(*kmsg.DescribeConfigsRequest)
		answer := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
		for _, resource := range req.Resources {
			one := kmsg.NewDescribeConfigsResponseResource()
			one.ResourceType, one.ResourceName = resource.ResourceType, resource.ResourceName
			one.ErrorCode = unknownTopic
			answer.Resources = append(answer.Resources, one)
		}
		return answer, nil, true
	})
	require.NoError(t, client(t, b, nil).Admin().Apply(t.Context()))
	require.Equal(t, times, lagged)
}
