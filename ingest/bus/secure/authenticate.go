package secure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest/bus/protocol"
)

// maxAnswerBytes bounds a broker's responses before authentication is complete.
const maxAnswerBytes = 1 << 20

// authenticate authenticates lethe to the broker (KIP-12, KIP-152). The request versions are those
// since Kafka 1.0.
func authenticate(ctx context.Context, conn net.Conn, s *SASL, clientID string) error {
	mechanism, err := mechanismOf(s)
	if err != nil {
		return err
	}
	if err := shake(conn, s, clientID); err != nil {
		return err
	}
	session, payload, err := mechanism.Start(ctx)
	if err != nil {
		return err
	}
	for done := false; !done; {
		request := kmsg.NewPtrSASLAuthenticateRequest()
		request.SASLAuthBytes = payload
		message, err := protocol.Exchange(conn, clientID, request, maxAnswerBytes)
		if err != nil {
			return refusedBy(s, err)
		}
		answer := message.(*kmsg.SASLAuthenticateResponse)
		if answer.ErrorCode != 0 {
			return notTaken(s, answer)
		}
		if done, payload, err = session.Next(ctx, answer.SASLAuthBytes); err != nil {
			return notTrue(s, err)
		}
	}
	return nil
}

// shake negotiates the mechanism.
func shake(conn net.Conn, s *SASL, clientID string) error {
	request := kmsg.NewPtrSASLHandshakeRequest()
	request.Version, request.Mechanism = 1, s.Mechanism
	message, err := protocol.Exchange(conn, clientID, request, maxAnswerBytes)
	if err != nil {
		return err
	}
	answer := message.(*kmsg.SASLHandshakeResponse)
	switch code := kafka.Error(answer.ErrorCode); code {
	case 0:
		return nil
	case kafka.UnsupportedSASLMechanism:
		return &RefusedError{Setting: "kafka.sasl.mechanism", Err: fmt.Errorf("it does not know %s, but %s",
			s.Mechanism, strings.Join(answer.SupportedMechanisms, ", "))}
	case kafka.IllegalSASLState:
		return &RefusedError{Setting: "kafka.sasl.mechanism",
			Err: fmt.Errorf("there is no authentication on this port (%s)", code.Title())}
	default:
		return &RefusedError{Setting: "kafka.sasl.mechanism", Err: code}
	}
}

// refusedBy handles a broker that closes the connection without a response, as brokers before Kafka
// 1.0 do.
func refusedBy(s *SASL, err error) error {
	if isHangUp(err) {
		return &RefusedError{Setting: s.secretSetting(),
			Err: fmt.Errorf("it ends the connection at %s: %w", s.Mechanism, err)}
	}
	return err
}

// notTaken returns the error of a broker that rejects the password or token.
func notTaken(s *SASL, answer *kmsg.SASLAuthenticateResponse) error {
	code := kafka.Error(answer.ErrorCode)
	if code != kafka.SASLAuthenticationFailed {
		return code
	}
	why := code.Title()
	if answer.ErrorMessage != nil {
		why = *answer.ErrorMessage
	}
	return &RefusedError{Setting: s.secretSetting(), Err: fmt.Errorf("it does not take %s: %s", s.who(), why)}
}

// notTrue returns the error of a mechanism that rejects the broker.
func notTrue(s *SASL, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &RefusedError{Setting: s.secretSetting(), Err: fmt.Errorf("%s: %w", s.Mechanism, err)}
}
