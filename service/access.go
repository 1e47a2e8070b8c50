package service

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"lethe"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/service/guard"
)

const (
	// looksApart is how long somebody may go on looking at the same before it is written down again.
	looksApart = time.Minute
	// mostLooks are remembered; beyond it all are forgotten, and written down once more.
	mostLooks = 4096
	// accessTimeout bounds how long brokers may take to keep who looks.
	accessTimeout = 5 * time.Second
)

// accesses have what people do through the API written down in the transparency log: the process that
// keeps the log takes it from control.v1. It is there before the deed is done, so that nothing
// is done or shown of which the log will not tell.
type accesses struct {
	mu sync.Mutex
	// last is the time of the newest one: no two of a process have the same, so none is taken for
	// another.
	last time.Time
	// looks are when somebody looked at something last.
	looks map[look]time.Time
}

// look is who looked at what.
type look struct {
	deed           translog.Deed
	actor, request lethe.Digest
}

// note writes down what the one who asks is about to do.
func (c changes) note(ctx context.Context, deed translog.Deed, requestID string, count int) error {
	said := wire.Access{
		Deed: string(deed), Actor: translog.ActorHash(c.secret, guard.PersonIn(ctx).Name),
		Request: translog.RequestHash(c.secret, requestID), Count: count,
	}
	at := look{deed, said.Actor, said.Request}
	var again bool
	if said.At, again = c.accesses.begin(at, c.o.Now()); again {
		return nil
	}
	var name [16]byte
	_, err := rand.Read(name[:])
	var record ingest.Outgoing
	if err == nil {
		record, err = said.Record(hex.EncodeToString(name[:]))
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, accessTimeout)
		defer cancel()
		err = c.client.Write(ctx, bus.Control, []ingest.Outgoing{record})
	}
	if err != nil {
		c.accesses.forget(at)
	}
	return c.refused("what somebody does could not be written down for the transparency log", err)
}

// begin returns the time under which a deed is written down, and whether it was, a moment ago.
func (a *accesses) begin(at look, now time.Time) (_ time.Time, again bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	shows := at.deed == translog.DeedLook
	if before, known := a.looks[at]; shows && known && now.Sub(before).Abs() < looksApart {
		return now, true
	}
	if a.last = a.last.Add(time.Millisecond); now.After(a.last) {
		a.last = now.Truncate(time.Millisecond)
	}
	if len(a.looks) >= mostLooks || a.looks == nil {
		a.looks = make(map[look]time.Time)
	}
	if shows {
		a.looks[at] = now
	}
	return a.last, false
}

// forget has the next look written down though there was one.
func (a *accesses) forget(at look) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.looks, at)
}

// look writes down that somebody looks at a request, or at the list of them if it is empty.
func (c changes) look(ctx context.Context, requestID string) error {
	if err := c.ready(); err != nil {
		return err
	}
	return c.note(ctx, translog.DeedLook, requestID, 0)
}

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
