package bus

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// The settings of a broker that bound Config.SessionTimeout.
const (
	shortestSession = "group.min.session.timeout.ms"
	longestSession  = "group.max.session.timeout.ms"
)

// refusedSession says that brokers do not take the session of a consumer group, and what they take,
// as far as the principal may read that.
func refusedSession(ctx context.Context, c *Client, cause error) error {
	bounds := fmt.Sprintf("%s to %s", shortestSession, longestSession)
	if low, high, err := sessionBounds(ctx, c); err == nil {
		bounds = fmt.Sprintf("%s ms (%s) to %s ms (%s)", low, shortestSession, high, longestSession)
	}
	return fmt.Errorf("%w: kafka.session_timeout is %s, and brokers take %s: %w", ErrSession, c.cfg.SessionTimeout, bounds,
		cause)
}

// sessionBounds reads what one broker takes.
func sessionBounds(ctx context.Context, c *Client) (low, high string, err error) {
	known, err := c.kafka.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return "", "", err
	}
	if len(known.Brokers) == 0 {
		return "", "", ErrBrokerUnreachable
	}
	response, err := c.kafka.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{
			ResourceType: kafka.ResourceTypeBroker, ResourceName: fmt.Sprint(known.Brokers[0].ID),
			ConfigNames: []string{shortestSession, longestSession},
		}},
	})
	if err != nil {
		return "", "", err
	}
	values := make(map[string]string)
	for _, resource := range response.Resources {
		if resource.Error != nil {
			return "", "", resource.Error
		}
		for _, entry := range resource.ConfigEntries {
			values[entry.ConfigName] = entry.ConfigValue
		}
	}
	if low, high = values[shortestSession], values[longestSession]; low == "" || high == "" {
		err = fmt.Errorf("the broker does not tell %s", shortestSession)
	}
	return low, high, err
}
