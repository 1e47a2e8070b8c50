package service

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"lethe"

	"lethe/ingest"
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

func unknownOf(targets []lethe.Target) *UnknownTargets {
	if len(targets) == 0 {
		return nil
	}
	var out UnknownTargets
	for _, t := range targets {
		switch t.Kind {
		case lethe.SubjectTarget:
			out.Subjects = append(out.Subjects, t.Subject)
		case lethe.PaymentTarget:
			out.Edges = append(out.Edges, string(ingest.PaymentKey(t.Payment.Source, t.Payment.Target)))
		case lethe.FeaturesTarget:
			text := string(t.Transaction)
			if len(t.Columns) > 0 {
				text += ">" + t.Columns.String()
			}
			out.Features = append(out.Features, text)
		default:
			out.Nodes = append(out.Nodes, string(t.Transaction))
		}
	}
	return &out
}

// UnknownTargets are targets as a request names them.
type UnknownTargets struct {
	Nodes    []string `json:"nodes,omitempty"`
	Subjects []string `json:"subjects,omitempty"`
	Edges    []string `json:"edges,omitempty"`
	Features []string `json:"features,omitempty"`
}

// All lists them.
func (u *UnknownTargets) All() []string {
	if u == nil {
		return nil
	}
	return slices.Concat(u.Nodes, u.Subjects, u.Edges, u.Features)
}

// joined counts names that hold what separates names where people type them.
func joined(names []string) (n int) {
	for _, name := range names {
		if strings.ContainsAny(name, ",;") {
			n++
		}
	}
	return n
}
