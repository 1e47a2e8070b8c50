package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/segmentio/kafka-go"
)

// Pace is a broker setting that affects how soon erased records are removed from the logs.
type Pace struct {
	// Broker is the broker's id.
	Broker  int    `json:"broker"`
	Setting string `json:"setting"`
	Value   string `json:"value"`
	// Advice describes the setting's effect, or, if Slow, recommends a value.
	Advice string `json:"advice"`
	Slow   bool   `json:"slow"`
}

// String returns one line for an operator.
func (p Pace) String() string {
	return fmt.Sprintf("broker %d: %s is %s: %s", p.Broker, p.Setting, p.Value, p.Advice)
}

// paceSetting is a broker setting to check.
type paceSetting struct {
	name string
	// slow reports whether a value delays erasures unnecessarily.
	slow           func(value float64) bool
	advice, better string
}

// paceSettings are those of Apache Kafka's cleaner, which has to pass twice over every partition
// that held erased records.
func paceSettings() []paceSetting {
	const (
		backoffMillis = 1000
		bytesASecond  = 50e6
		bufferBytes   = 16 << 20
	)
	never := func(float64) bool { return false }
	return []paceSetting{
		{
			"log.cleaner.backoff.ms", func(v float64) bool { return v > backoffMillis },
			"how long the cleaner sleeps when it finds nothing to do",
			"an erasure waits for the cleaner twice, up to so long each time; 1000 is enough",
		},
		{
			"log.cleaner.threads", never,
			"as many partitions are cleaned at a time, the others wait", "",
		},
		{
			"log.cleaner.io.max.bytes.per.second", func(v float64) bool { return v < bytesASecond },
			"what each pass over a partition may read and write",
			"a pass over a partition reads and writes all of it: 1 GB takes 2 GB divided by this",
		},
		{
			"log.cleaner.dedupe.buffer.size", func(v float64) bool { return v < bufferBytes },
			"24 bytes of it are needed for each key that changed since the last pass",
			"24 bytes of it are needed for each key that changed since the last pass, or passes are made in parts",
		},
	}
}

// Pace reads the settings that affect the speed of erasures, broker by broker. Brokers without such
// settings, like the embedded one, are left out. The error is ErrDenied if the principal may not
// describe the brokers' settings.
func (a Admin) Pace(ctx context.Context) (out []Pace, err error) {
	brokers, err := a.client.kafka.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{a.client.Name(Transactions)}})
	if err != nil {
		return nil, fmt.Errorf("brokers: %w", a.client.explain(ctx, err))
	}
	if brokers.ClusterID == EmbeddedClusterID { // lethe triggers its cleaning itself
		return nil, nil
	}
	for _, broker := range brokers.Brokers {
		own, err := a.paceOf(ctx, broker.ID)
		if err != nil {
			return nil, fmt.Errorf("settings of broker %d: %w", broker.ID, a.client.explain(ctx, err))
		}
		out = append(out, own...)
	}
	slices.SortStableFunc(out, func(a, b Pace) int { return a.Broker - b.Broker })
	return out, nil
}

func (a Admin) paceOf(ctx context.Context, broker int) (out []Pace, err error) {
	wanted := paceSettings()
	var names []string
	for _, s := range wanted {
		names = append(names, s.name)
	}
	values, err := brokerSettings(ctx, a.client, broker, names...)
	if err != nil {
		return nil, err
	}
	for _, s := range wanted {
		value, err := strconv.ParseFloat(values[s.name], 64)
		if err != nil {
			continue
		}
		p := Pace{Broker: broker, Setting: s.name, Value: values[s.name], Advice: s.advice, Slow: s.slow(value)}
		if p.Slow {
			p.Advice = s.better
		}
		out = append(out, p)
	}
	return out, nil
}

// brokerSettings reads settings of a broker by name, if the broker returns them. Errors: ErrDenied,
// those of the connection.
func brokerSettings(ctx context.Context, c *Client, broker int, names ...string) (map[string]string, error) {
	response, err := c.kafka.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{
			ResourceType: kafka.ResourceTypeBroker, ResourceName: strconv.Itoa(broker), ConfigNames: names,
		}},
	})
	if err != nil {
		return nil, err
	}
	values := make(map[string]string)
	for _, resource := range response.Resources {
		if errors.Is(resource.Error, kafka.ClusterAuthorizationFailed) {
			return nil, fmt.Errorf("%w: DescribeConfigs of the cluster: %w", ErrDenied, resource.Error)
		}
		if resource.Error != nil {
			return nil, resource.Error
		}
		for _, entry := range resource.ConfigEntries {
			values[entry.ConfigName] = entry.ConfigValue
		}
	}
	return values, nil
}
