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

// Dialer makes connections to brokers. It is safe for concurrent use.
type Dialer struct {
	Config Config
	// ClientID identifies this program to the brokers.
	ClientID string
	// Timeout bounds the setup of one connection, including TLS and authentication.
	Timeout time.Duration
	// Greets requires a first response from the broker before a connection is used, also without encryption
	// and authentication: the operating system accepts connections for a broker that hangs.
	Greets bool
}

// DialContext returns a connection to the address, host:port, that is encrypted and authenticated
// as configured. The error is a RefusedError if waiting cannot help, and else that of the network.
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

// secure encrypts and authenticates a new connection.
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
		// In TLS 1.3 a broker rejects our certificate only after the handshake.
		if err := greet(conn, d.ClientID); err != nil {
			return nil, err
		}
	}
	if !stop() {
		return nil, ctx.Err()
	}
	return conn, nil
}

// greet requests the broker's API versions, which every broker returns without authentication.
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

// SpeaksTLS reports whether the address speaks TLS, with any certificate. It is used after a
// connection without TLS received a malformed response.
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

// WantsSASL reports whether the address requires SASL. It is used after a broker closed a
// connection without SASL.
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

// isHangUp reports that the peer closed the connection without a response.
func isHangUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
