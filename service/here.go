package service

import (
	"net/http"
	"net/netip"
	"slices"

	"lethe/service/guard"
)

// forwarded are headers by which a proxy says that it asks for somebody else.
func forwarded() []string {
	return []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"}
}

// fromHere reports whether somebody on this machine asks: over its own address, for himself, and
// under an address or the name localhost. Under another name a page of another site may ask, whose
// name was made to mean this machine after the browser had read it.
func fromHere(r *http.Request) bool {
	address, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !address.Addr().Unmap().IsLoopback() {
		return false
	}
	if slices.ContainsFunc(forwarded(), func(name string) bool { return len(r.Header.Values(name)) > 0 }) {
		return false
	}
	return guard.IsOwn(r.Host, nil)
}
