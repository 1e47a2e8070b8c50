package protocol

import (
	"context"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Allowed queries one broker for the ACLs that allow a principal something, as far as that broker knows: brokers
// learn of new ones one after the other. It uses version 1 of the request. Errors are those of Fetch, and
// kafka.Error if the broker does not list ACLs.
func (c Client) Allowed(ctx context.Context, broker int32, principal string) ([]kafka.ACLEntry, error) {
	const limitBytes = 64 << 20
	m := kmsg.NewPtrDescribeACLsRequest()
	m.Version, m.Principal, m.PermissionType = 1, &principal, kmsg.ACLPermissionTypeAllow
	m.ResourceType, m.ResourcePatternType = kmsg.ACLResourceTypeAny, kmsg.ACLResourcePatternTypeAny
	m.Operation = kmsg.ACLOperationAny
	message, err := c.send(ctx, &call{request: m, broker: &broker, limitBytes: limitBytes})
	if err != nil {
		return nil, err
	}
	response := message.(*kmsg.DescribeACLsResponse)
	var all []kafka.ACLEntry
	for _, of := range response.Resources {
		for _, a := range of.ACLs {
			all = append(all, kafka.ACLEntry{
				ResourceType: kafka.ResourceType(of.ResourceType), ResourceName: of.ResourceName,
				ResourcePatternType: kafka.PatternType(of.ResourcePatternType), Principal: a.Principal, Host: a.Host,
				Operation: kafka.ACLOperationType(a.Operation), PermissionType: kafka.ACLPermissionType(a.PermissionType),
			})
		}
	}
	return all, codeError(response.ErrorCode)
}
