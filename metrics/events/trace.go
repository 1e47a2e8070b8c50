package events

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"lethe"
)

// Trace identifies the spans of an erasure, a timestep or a transaction. It is a keyed hash, so that all processes of
// a deployment compute the same id without communication, and it reveals nothing without the secret.
type Trace [16]byte

// String returns the trace in hexadecimal, as OpenTelemetry spells it.
func (t Trace) String() string { return hex.EncodeToString(t[:]) }

// IsZero reports whether there is no trace.
func (t Trace) IsZero() bool { return t == Trace{} }

// TraceOfErasure returns the trace of a request.
func TraceOfErasure(s lethe.Secret, requestID string) Trace {
	return traceOf(s, "trace-erasure", []byte(requestID))
}

// TraceOfTimestep returns the trace of a timestep.
func TraceOfTimestep(s lethe.Secret, t lethe.Timestep) Trace {
	return traceOf(s, "trace-timestep", strconv.AppendUint(nil, uint64(t), 10))
}

// TraceOfTransaction returns the trace of a transaction, whether or not a Sampler chooses it.
func TraceOfTransaction(s lethe.Secret, p lethe.Pseudonym) Trace {
	return traceOf(s, "trace-transaction", p[:])
}

func traceOf(s lethe.Secret, purpose string, what []byte) Trace {
	d := s.Hash(purpose, what)
	return Trace(d[:16])
}

// Sampler chooses the transactions that are traced: a share of all, and the same ones in every
// process. The zero Sampler chooses none.
type Sampler struct {
	secret lethe.Secret
	// below bounds the first eight bytes of pseudonyms, which are uniformly distributed.
	below uint64
	all   bool
}

// NewSampler returns a sampler that chooses a share between 0 and 1.
func NewSampler(s lethe.Secret, share float64) Sampler {
	if share >= 1 {
		return Sampler{secret: s, all: true}
	}
	return Sampler{secret: s, below: uint64(max(0, share) * math.MaxUint64)}
}

// Trace returns the trace of a transaction, and whether it is traced.
func (s Sampler) Trace(p lethe.Pseudonym) (t Trace, followed bool) {
	if !s.all && binary.BigEndian.Uint64(p[:]) >= s.below {
		return Trace{}, false
	}
	return TraceOfTransaction(s.secret, p), true
}

// Passed notifies a listener that a traced transaction has reached a stage, and of the duration.
func (s Sampler) Passed(l Listener, stage Stage, t lethe.Timestep, p lethe.Pseudonym, took time.Duration) {
	if trace, followed := s.Trace(p); followed {
		l(TransactionPassed{Trace: trace, Stage: stage, Timestep: t, Duration: took})
	}
}

// Stage is a stage that a traced transaction has reached.
type Stage string

// The stages.
const (
	// Taken: its record was passed to the graphs' store.
	Taken Stage = "taken"
	// ScoredProvisionally and ScoredFinally: a prediction of that kind was published.
	ScoredProvisionally Stage = "scored provisionally"
	ScoredFinally       Stage = "scored"
)

// TransactionPassed reports that a traced transaction has passed a stage.
type TransactionPassed struct {
	Trace    Trace
	Stage    Stage
	Timestep lethe.Timestep
	// Duration is that of the work that ended with the stage, for this and other transactions
	// together.
	Duration time.Duration
}
