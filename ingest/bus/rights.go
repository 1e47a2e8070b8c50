package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/segmentio/kafka-go"

	"lethe/ingest/bus/protocol"
	"lethe/internal/check"
)

// Principals are the names in the brokers' ACLs, such as User:lethe.
type Principals struct {
	// Producer publishes transactions, payments and labels; Compliance erasures and
	// holds.
	Producer, Compliance string
	// Lethe is the service, Reader consumes predictions.
	Lethe, Reader string
}

// Check rejects names that brokers do not accept as principals, or accept but never match; the
// error names the role. Types other than User belong to brokers' own principal builders.
func (p Principals) Check() error {
	var problems check.Problems
	for _, one := range []struct{ key, principal string }{
		{"producer", p.Producer}, {"compliance", p.Compliance}, {"lethe", p.Lethe}, {"reader", p.Reader},
	} {
		kind, name, _ := strings.Cut(one.principal, ":")
		meant := kind != "" && (kind == user || !strings.EqualFold(kind, user))
		clean := strings.TrimSpace(one.principal) == one.principal && !strings.ContainsFunc(one.principal, unicode.IsControl)
		problems.That(meant && name != "" && clean, "principal of "+one.key, one.principal,
			"a type and a name, such as User:lethe or User:CN=lethe, without space around it")
	}
	return problems.Err()
}

// user is the principal type of Kafka itself. It is case-sensitive.
const user = "User"

// Right is one permission that a principal needs.
type Right struct {
	Principal string `json:"principal"`
	Operation string `json:"operation"`
	// Resource is topic or group.
	Resource string `json:"resource"`
	Name     string `json:"name"`
	// Pattern is literal or prefixed.
	Pattern string `json:"pattern"`

	entry kafka.ACLEntry
}

// String returns one line for an operator.
func (r Right) String() string {
	return fmt.Sprintf("%s: allow %s on %s %s (%s) from every host",
		r.Principal, r.Operation, r.Resource, r.Name, r.Pattern)
}

// readerGroups begins the ids of readers' consumer groups, after the prefix of the topics. A
// principal that may join the groups of lethe's processes can take over their work, so readers have
// their own.
const readerGroups = "reader"

// lethesOperations are the operations that the service needs on every topic. Read and Write
// include Describe.
func lethesOperations() []kafka.ACLOperationType {
	return []kafka.ACLOperationType{
		kafka.ACLOperationTypeRead, kafka.ACLOperationTypeWrite, kafka.ACLOperationTypeDescribeConfigs,
	}
}

// Rights lists the rights that the four principals need once the topics exist and are configured: none of them creates
// or alters anything.
func (a Admin) Rights(who Principals) []Right {
	const read, write = kafka.ACLOperationTypeRead, kafka.ACLOperationTypeWrite
	var all []Right
	add := func(principal string, operation kafka.ACLOperationType, topics ...Topic) {
		for _, t := range topics {
			all = append(all, newRight(principal, operation, kafka.ResourceTypeTopic, a.client.Name(t)))
		}
	}
	add(who.Producer, write, Transactions, Labels)
	add(who.Compliance, write, Erasures)
	// An approver reads the request of another person before signing it.
	add(who.Compliance, read, Erasures, ErasureStatus, Receipts, Log)
	for _, operation := range lethesOperations() {
		add(who.Lethe, operation, Topics()...)
	}
	// Processes of one role share their work through a consumer group.
	all = append(all, newRight(who.Lethe, read, kafka.ResourceTypeGroup, a.client.cfg.TopicPrefix))
	add(who.Reader, read, Predictions, Reasons)
	return append(all, newRight(who.Reader, read, kafka.ResourceTypeGroup, a.client.cfg.TopicPrefix+readerGroups))
}

func newRight(principal string, operation kafka.ACLOperationType, kind kafka.ResourceType, name string) Right {
	r := Right{Principal: principal, Operation: operation.String(), Resource: "topic", Name: name, Pattern: "literal"}
	pattern := kafka.PatternTypeLiteral
	if kind == kafka.ResourceTypeGroup {
		r.Resource = "group"
		if r.Name == "" {
			r.Name = "*"
		} else {
			r.Pattern, pattern = "prefixed", kafka.PatternTypePrefixed
		}
	}
	r.entry = kafka.ACLEntry{
		ResourceType: kind, ResourceName: r.Name, ResourcePatternType: pattern,
		Principal: principal, Host: "*", Operation: operation, PermissionType: kafka.ACLPermissionTypeAllow,
	}
	return r
}

// Grant creates ACLs for the rights. Existing ACLs are left unchanged. It waits until every broker knows them: until
// then a broker denies allowed requests, and a process that starts there exits. It does not wait for brokers that do
// not list their ACLs.
func (a Admin) Grant(ctx context.Context, rights []Right) error {
	request := &kafka.CreateACLsRequest{}
	for _, r := range rights {
		request.ACLs = append(request.ACLs, r.entry)
	}
	response, err := a.client.kafka.CreateACLs(ctx, request)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the broker ends the connection (that of lethe run has no ACLs, and lets in this machine alone)")
	}
	if err != nil {
		return fmt.Errorf("create ACLs: %w", a.client.explain(ctx, err))
	}
	for i, err := range response.Errors {
		if err != nil {
			return denied("create ACLs", fmt.Errorf("create ACL %q: %w", rights[i], err))
		}
	}
	return learning{a.client, rights}.await(ctx)
}

// learning are rights that brokers do not know of yet.
type learning struct {
	client *Client
	rights []Right
}

// await waits for the brokers, one after the other.
func (l learning) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.client.cfg.RequestTimeout)
	defer cancel()
	cluster, err := l.client.kafka.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{}})
	if err != nil {
		return fmt.Errorf("brokers that learn of ACLs: %w", l.client.explain(ctx, err))
	}
	for _, broker := range cluster.Brokers {
		for attempt := 0; ; attempt++ {
			unknown, err := l.unknownTo(ctx, broker.ID)
			if err == nil && len(unknown) == 0 {
				break
			}
			if err == nil {
				err = fmt.Errorf("it does not know %q and %d more", unknown[0], len(unknown)-1)
			}
			if pause(ctx, attempt) != nil {
				return fmt.Errorf("the ACLs are made, and broker %d may refuse what they allow until it has learnt of them: %w "+
					"(give the command again to wait for longer)", broker.ID, err)
			}
		}
	}
	return nil
}

// unknownTo returns the rights that a broker does not know of yet.
func (l learning) unknownTo(ctx context.Context, broker int) ([]Right, error) {
	known := make(map[kafka.ACLEntry]bool)
	asked := make(map[string]bool)
	for _, r := range l.rights {
		if asked[r.Principal] {
			continue
		}
		asked[r.Principal] = true
		all, err := l.client.raw.Allowed(ctx, int32(broker), r.Principal)
		var refusal kafka.Error
		switch {
		case errors.As(err, &refusal) && !refusal.Temporary(), errors.Is(err, protocol.ErrAway):
			return nil, nil // the broker does not list its ACLs
		case err != nil:
			return nil, err
		}
		for _, entry := range all {
			known[entry] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(l.rights), func(r Right) bool { return known[r.entry] }), nil
}

// HasRights checks that this principal has the rights of the service, as far as brokers report
// them. The error is ErrDenied and lists everything that is missing. The service can run without
// DescribeConfigs; Check then names the topics.
func (a Admin) HasRights(ctx context.Context) error {
	states, _, err := a.states(ctx)
	if err != nil {
		return err
	}
	var missing []string
	for _, t := range Topics() {
		for _, operation := range []kafka.ACLOperationType{kafka.ACLOperationTypeRead, kafka.ACLOperationTypeWrite} {
			if s := states[t]; s.partitions > 0 && !s.may(operation) {
				missing = append(missing, fmt.Sprintf("%s on %s", operation, a.client.Name(t)))
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return denied(fmt.Sprintf("brokers %s: %s", strings.Join(a.client.cfg.Brokers, ","), strings.Join(missing, ", ")),
		kafka.TopicAuthorizationFailed)
}
