package wire

import (
	"fmt"

	"lethe"
	"lethe/canonical"
)

const (
	askMagic      = "LASK"
	answerMagic   = "LANS"
	answerVersion = 1
)

// Question is what the models of an ensemble are asked about. Whoever asks them gives the same
// answers, to the bit.
type Question struct {
	Timestep lethe.Timestep
	// Graph is canonical.DigestOf the message of the graph, Ensemble the version of the ensemble.
	Graph, Ensemble lethe.Digest
	// Kernels is the name of the kernel set, which decides the bits.
	Kernels string
}

// Ask has processes that stand by ask some of the models of an ensemble about a graph, for the one
// that leads.
type Ask struct {
	Question
	// Members are the identities of those that may take part, who leads first: each begins with
	// another part of the models.
	Members []string
}

// Answer is what one model says of a graph. It names nobody: its rows are in the order of the graph.
type Answer struct {
	Question
	Model lethe.ShardID
	// Posteriors are the probabilities of every node's classes, row by row.
	Posteriors []float32
}

// Message returns the question as a message of answers.v1.
func (a *Ask) Message() Message {
	w := canonical.NewWriter(askMagic, answerVersion)
	a.append(w)
	w.Count(len(a.Members))
	for _, m := range a.Members {
		w.String(m)
	}
	return Message{
		Key: Key{Kind: KindAsk, Timestep: a.Timestep}, Revision: 1, Previous: lethe.NoTimestep, Payload: w.Seal(),
	}
}

// DecodeAsk reads the payload of a message of KindAsk.
func DecodeAsk(message []byte) (*Ask, error) {
	r, err := canonical.NewReader(message, askMagic, answerVersion)
	if err != nil {
		return nil, fmt.Errorf("question: %w", err)
	}
	a := &Ask{Question: readQuestion(r)}
	a.Members = make([]string, r.Count(4))
	for i := range a.Members {
		a.Members[i] = r.Text()
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("question: %w", err)
	}
	return a, nil
}

// Message returns the answer as a message of answers.v1.
func (a *Answer) Message() Message {
	w := canonical.NewWriter(answerMagic, answerVersion)
	a.append(w)
	w.Uint32(uint32(a.Model))
	w.Count(len(a.Posteriors))
	w.Float32s(a.Posteriors)
	payload, digest := w.SealDigest()
	return Message{
		Key: Key{Kind: KindAnswer, Shard: a.Model, Timestep: a.Timestep}, Revision: 1, Previous: lethe.NoTimestep,
		Payload: payload, Digest: digest,
	}
}

// DecodeAnswer reads the payload of a message of KindAnswer.
func DecodeAnswer(message []byte) (*Answer, error) {
	r, err := canonical.NewReader(message, answerMagic, answerVersion)
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	a := &Answer{Question: readQuestion(r), Model: lethe.ShardID(r.Uint32())}
	a.Posteriors = r.Float32s(r.Count(4))
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	return a, nil
}

func (q Question) append(w *canonical.Writer) {
	w.Uint64(uint64(q.Timestep))
	w.Bytes(q.Graph[:])
	w.Bytes(q.Ensemble[:])
	w.String(q.Kernels)
}

func readQuestion(r *canonical.Reader) (q Question) {
	q.Timestep = lethe.Timestep(r.Uint64())
	r.Bytes(q.Graph[:])
	r.Bytes(q.Ensemble[:])
	q.Kernels = r.Text()
	return q
}
