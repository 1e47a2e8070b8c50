package outbound_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/internal/outbound"
)

// Addresses beyond the public network are refused as they are written.
func TestPrivateAddressesAreRefused(t *testing.T) {
	for _, url := range []string{
		"http://example.com/", "ftp://example.com/", "https://user:password@example.com/", "https:///", "https://127.0.0.1/",
		"https://10.1.2.3/", "https://[::1]/", "https://[fd00::1]/", "https://169.254.169.254/", "https://100.64.0.1/",
		"https://[::ffff:10.0.0.1]/", "https://0.0.0.0/", "https://[64:ff9b::7f00:1]/",
	} {
		require.Error(t, outbound.CheckURL(url, false), url)
	}
	require.NoError(t, outbound.CheckURL("https://example.com/alerts", false))
	require.NoError(t, outbound.CheckURL("http://10.1.2.3/alerts", true))
	require.Error(t, outbound.CheckURL("http://169.254.169.254/latest", true), "never the local link")
}

// A connection goes where it may, whatever its name is, and no redirect is followed.
func TestConnectionsGoWhereTheyMay(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	t.Cleanup(server.Close)
	get := func(allowPrivate bool) (*http.Response, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		require.NoError(t, err)
		return outbound.Client(allowPrivate, time.Minute).Do(request)
	}
	response, err := get(false)
	if err == nil {
		require.NoError(t, response.Body.Close())
	}
	require.ErrorIs(t, err, outbound.ErrAddress)
	require.Zero(t, asked)
	response, err = get(true)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusFound, response.StatusCode)
	require.Equal(t, 1, asked)
}

// One list has every address that nothing is sent to: whether a setting allows it, and those that lead to one of IPv4.
func TestReservedAddresses(t *testing.T) {
	const open, private, never = "open", "private", "never"
	for ip, want := range map[string]string{
		"93.184.216.34": open, "2606:2800:220:1:248:1893:25c8:1946": open, "172.32.0.1": open, "198.20.0.1": open,
		"10.0.0.1": private, "172.16.0.1": private, "192.168.0.1": private, "127.0.0.1": private, "100.64.0.1": private,
		"192.0.0.1": private, "192.0.2.1": private, "198.18.0.1": private, "198.19.255.255": private,
		"198.51.100.1": private, "203.0.113.1": private, "240.0.0.1": private, "::1": private, "fc00::1": private,
		"fd12::1": private, "fec0::1": private, "2001:db8::1": private, "2001::1": private, "100::1": private,
		"64:ff9b::5db8:d822": private, "64:ff9b::a00:1": private, "64:ff9b:1::a00:1": private, "2002:a00:1::1": private,
		"::ffff:10.0.0.1": private, "::10.0.0.1": private, "::ffff:0:10.0.0.1": private,
		"0.0.0.0": never, "0.1.2.3": never, "::": never, "169.254.169.254": never, "fe80::1": never, "fe80::1%eth0": never,
		"224.0.0.1": never, "ff02::1": never, "255.255.255.255": never, "fd00:ec2::254": never, "fd20:ce::254": never,
		"100.100.100.200": never, "192.0.0.192": never, "168.63.129.16": never,
		"::ffff:169.254.169.254": never, "64:ff9b::a9fe:a9fe": never, "64:ff9b:1::a9fe:a9fe": never,
		"2002:a9fe:a9fe::1": never, "::169.254.169.254": never, "64:ff9b::1": never,
	} {
		url := (&url.URL{Scheme: "https", Host: net.JoinHostPort(ip, "443"), Path: "/"}).String()
		got := open
		switch {
		case outbound.CheckURL(url, true) != nil:
			got = never
		case outbound.CheckURL(url, false) != nil:
			got = private
		}
		require.Equal(t, want, got, ip)
	}
}
