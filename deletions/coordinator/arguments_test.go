package coordinator

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"

	"lethe"
)

func requestOf(id string, td *datadriven.TestData) lethe.ErasureRequest {
	r := lethe.ErasureRequest{RequestID: id, Scope: lethe.ScopeStubs}
	for _, arg := range td.CmdArgs[1:] {
		switch arg.Key {
		case "targets":
			for _, v := range arg.Vals {
				r.Targets = append(r.Targets, lethe.Transactions(lethe.TransactionID(v))...)
			}
		case "subject":
			key, until := subjectOf(arg.Vals[0])
			r.Targets = append(r.Targets, lethe.SubjectThrough(key, until))
		case "subjects":
			for _, v := range arg.Vals {
				r.Targets = append(r.Targets, lethe.SubjectThrough(v, lethe.NoTimestep))
			}
		case "payments":
			for _, v := range arg.Vals {
				source, target, _ := strings.Cut(v, ">")
				r.Targets = append(r.Targets, lethe.PaymentBetween(lethe.TransactionID(source), lethe.TransactionID(target)))
			}
		case "nonce":
			r.Nonce = strings.Repeat(arg.Vals[0], 32)
		case "scope":
			if r.Scope = lethe.Scope(arg.Vals[0]); r.Scope == "none" {
				r.Scope = ""
			}
		}
	}
	return r
}

// subjectOf takes a subject and a timestep apart.
func subjectOf(text string) (key string, at lethe.Timestep) {
	key, number, _ := strings.Cut(text, "@")
	t, err := strconv.Atoi(number)
	if err != nil {
		panic(err)
	}
	return key, lethe.Timestep(t)
}

func textArg(td *datadriven.TestData, name string) (text string) {
	for _, arg := range td.CmdArgs {
		if arg.Key == name {
			text = strings.Join(arg.Vals, ",")
		}
	}
	return text
}

// shortened joins what is read in a row, and leaves out a round of a search that
// is like the one before.
func shortened(told []string) (out []string) {
	for _, line := range told {
		topic, isRead := strings.CutPrefix(line, "read ")
		last := len(out) - 1
		if isRead && last >= 0 && strings.HasPrefix(out[last], "read ") {
			out[last] += " " + topic
			continue
		}
		out = append(out, line)
		const round = 3
		if n := len(out); n >= 2*round && slices.Equal(out[n-round:], out[n-2*round:n-round]) {
			out = out[:n-round]
		}
	}
	return out
}
