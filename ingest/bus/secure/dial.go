package secure

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest/bus/protocol"
)

// Dialer makes connections to brokers. It is safe for use by several goroutines.
type Dialer struct {
	Config Config
	// ClientID names this program to the brokers.
	ClientID string
	// Timeout bounds one connection with everything that is said before its first use.
	Timeout time.Duration
	// Greets says that a broker must have answered something before a connection is used, also where it is neither
	// encrypted nor authenticated: the system of a broker that hangs takes connections.
	Greets bool
}

// DialContext returns a connection to the address, host:port, that is encrypted and
// authenticated as the configuration says. The error is a RefusedError if waiting cannot
// help, and else that of the network.
func (d Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn, err := d.secure(ctx, raw, address)
	if err == nil {
		return conn, nil
	}
	_ = raw.Close()
	if d.Config.TLS.Enabled && isHangUp(err) && answersPlain(ctx, d, network, address) {
		return nil, &RefusedError{address, "kafka.tls.enabled", errors.New("it speaks no TLS on this port")}
	}
	return nil, refusal(address, d.outOfDate(err, time.Now()))
}

// secure says on a fresh connection what must be said before its first use.
func (d Dialer) secure(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if d.Config.TLS.Enabled {
		config, err := clientConfig(&d.Config.TLS, address)
		if err != nil {
			return nil, err
		}
		encrypted := tls.Client(conn, config)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		conn = encrypted
	}
	switch {
	case d.Config.SASL.Mechanism != "":
		if err := authenticate(ctx, conn, &d.Config.SASL, d.ClientID); err != nil {
			return nil, err
		}
	case d.Config.TLS.Enabled, d.Greets:
		// In TLS 1.3 a broker that does not want our certificate says so behind the handshake.
		if err := greet(conn, d.ClientID); err != nil {
			return nil, err
		}
	}
	if !stop() {
		return nil, ctx.Err()
	}
	return conn, nil
}

// greet asks which versions of which requests the broker knows, which every broker
// answers to everybody.
func greet(conn net.Conn, clientID string) error {
	_, err := protocol.Exchange(conn, clientID, kmsg.NewPtrApiVersionsRequest(), maxAnswerBytes)
	return err
}

// answersPlain reports whether the address speaks Kafka without TLS.
func answersPlain(ctx context.Context, d Dialer, network, address string) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return false
	}
	defer conn.Close() //nolint:errcheck // nothing depends on it
	if deadline, has := ctx.Deadline(); has {
		_ = conn.SetDeadline(deadline)
	}
	return greet(conn, d.ClientID) == nil
}

// SpeaksTLS reports whether the address speaks TLS, whatever its certificate. It is asked
// when a connection without TLS made no sense.
func SpeaksTLS(ctx context.Context, address string) bool {
	// Nothing is sent over this connection.
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // only asks whether it is TLS
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err == nil {
		_ = conn.Close()
		return true
	}
	_, alert := remoteAlert(err)
	return alert
}

// WantsSASL reports whether the address asks who one is. It is asked when a broker ended
// a connection without SASL.
func (d Dialer) WantsSASL(ctx context.Context, address string) bool {
	d.Config.SASL = SASL{}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close() //nolint:errcheck // nothing depends on it
	if deadline, has := ctx.Deadline(); has {
		_ = conn.SetDeadline(deadline)
	}
	request := kmsg.NewPtrSASLHandshakeRequest()
	request.Version, request.Mechanism = 1, ScramSHA512
	message, err := protocol.Exchange(conn, d.ClientID, request, maxAnswerBytes)
	if err != nil {
		return false
	}
	code := kafka.Error(message.(*kmsg.SASLHandshakeResponse).ErrorCode)
	return code == 0 || code == kafka.UnsupportedSASLMechanism
}

// isHangUp reports that the other side closed the connection without a word.
func isHangUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
