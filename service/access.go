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
	// looksApart is the time for which repeated looks at the same object are not logged again.
	looksApart = time.Minute
	// mostLooks bounds the remembered looks; beyond it all are forgotten, and logged once more.
	mostLooks = 4096
	// accessTimeout bounds how long brokers may take to store an access.
	accessTimeout = 5 * time.Second
)

// accesses logs people's actions through the API in the transparency log: the process that owns the
// log consumes them from control.v1. They are published before the action is carried out, so that
// nothing is done or shown without an entry in the log.
type accesses struct {
	mu sync.Mutex
	// last is the time of the newest access: no two of a process have the same time, so that each
	// is unique.
	last time.Time
	// looks are the times of the last look at each object.
	looks map[look]time.Time
}

// look is a person and the object that the person looked at.
type look struct {
	deed           translog.Deed
	actor, request lethe.Digest
}

// note logs a change before the caller makes it.
func (c changes) note(ctx context.Context, deed translog.Deed, requestID string, count int) error {
	access := wire.Access{
		Deed: string(deed), Actor: translog.ActorHash(c.secret, guard.PersonIn(ctx).Name),
		Request: translog.RequestHash(c.secret, requestID), Count: count,
	}
	at := look{deed, access.Actor, access.Request}
	var again bool
	if access.At, again = c.accesses.begin(at, c.o.Now()); again {
		return nil
	}
	var name [16]byte
	_, err := rand.Read(name[:])
	var record ingest.Outgoing
	if err == nil {
		record, err = access.Record(hex.EncodeToString(name[:]))
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, accessTimeout)
		defer cancel()
		err = c.client.Write(ctx, bus.Control, []ingest.Outgoing{record})
	}
	if err != nil {
		c.accesses.forget(at)
	}
	return c.refused("the access could not be recorded for the transparency log", err)
}

// begin returns the time for the log entry of an action, and whether it was logged a moment ago.
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

// forget makes the next look be logged although there was a recent one.
func (a *accesses) forget(at look) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.looks, at)
}

// look logs that the caller looks at a request, or at the list of requests if it is empty.
func (c changes) look(ctx context.Context, requestID string) error {
	if err := c.ready(); err != nil {
		return err
	}
	return c.note(ctx, translog.DeedLook, requestID, 0)
}

// forwarded lists headers by which a proxy declares that it acts for another client.
func forwarded() []string {
	return []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"}
}

// fromHere reports whether the request comes from this machine: over its own address, without a
// proxy, and to an address or the name localhost. A request to another name may come from a page of
// another site, whose name was pointed to this machine after the browser had loaded it.
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

// UnknownTargets are unknown targets, as the request names them.
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

// joined counts names that contain a character that commonly separates names.
func joined(names []string) (n int) {
	for _, name := range names {
		if strings.ContainsAny(name, ",;") {
			n++
		}
	}
	return n
}
