package service_test

import (
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"lethe/service/servicetest"

	"github.com/stretchr/testify/require"
)

// Half-open connections take the connections of the HTTP port until they time out, and no more files than that.
func TestHTTP_HalfOpenConnections_AreBounded(t *testing.T) {
	if _, err := os.ReadDir("/proc/self/fd"); err != nil {
		t.Skip("no /proc")
	}
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries)
	}
	c := servicetest.SmallConfig(t, t.TempDir())
	c.HTTP.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	start(t, c)
	before, silent := open(), 1000
	for range silent {
		conn, err := net.Dial("tcp", c.HTTP.Address)
		require.NoError(t, err)
		defer conn.Close()
	}
	time.Sleep(200 * time.Millisecond)
	require.LessOrEqual(t, open(), before+silent+256+200, "roles connect at the same time")
	require.Eventually(t, func() bool { return page(t, c.HTTP.Address, "/livez") != "" }, time.Minute, time.Second)
}

// failing is a listener of which some attempts to accept fail as they do without file descriptors.
type failing struct {
	net.Listener
	left int
}

func (f *failing) Accept() (net.Conn, error) {
	if f.left--; f.left >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return f.Listener.Accept()
}

// What the HTTP port relies on: a lack of file descriptors does not end net/http's server.
func TestHTTP_NoFileDescriptors_IsWaitedOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{ReadHeaderTimeout: time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(&failing{l, 5}) }()
	require.Eventually(t, func() bool { return page(t, l.Addr().String(), "/") != "" }, 10*time.Second, time.Millisecond)
	require.NoError(t, server.Close())
	require.ErrorIs(t, <-ended, http.ErrServerClosed)
}
