package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"lethe"
	"lethe/ingest"
)

// asker asks a service.
type asker struct {
	at     string
	client *http.Client
	// failed is what did not answer with 200.
	failed []string
}

func newAsker(at string) *asker { return &asker{at: at, client: &http.Client{Timeout: time.Minute}} }

// get asks, and reads the answer into into, if it is not nil.
func (a *asker) get(ctx context.Context, path string, into any) (body []byte, status int) {
	return a.ask(ctx, question{path: path}, into)
}

// question is something to ask.
type question struct {
	path string
	// body is posted, if it is not nil.
	body any
}

func (a *asker) ask(ctx context.Context, q question, into any) (body []byte, status int) {
	method, sent := http.MethodGet, []byte(nil)
	if q.body != nil {
		method = http.MethodPost
		sent, _ = json.Marshal(q.body) //nolint:errchkjson // strings alone
	}
	r, err := http.NewRequestWithContext(ctx, method, a.at+q.path, bytes.NewReader(sent))
	if err != nil {
		return nil, 0
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := a.client.Do(r)
	if err != nil {
		return nil, 0
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	body, err = io.ReadAll(response.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return nil, 0
	}
	return body, response.StatusCode
}

// kind is a question that is asked again and again with other parameters.
type kind struct {
	name string
	// nth makes the question; pages follow the cursor of the answer before instead.
	nth   func(i int) question
	pages string
}

// measure asks everything and prints how long it took.
func (a *asker) measure(ctx context.Context, b *benchmark) error {
	refs := a.refs(ctx)
	if len(refs) == 0 {
		return fmt.Errorf("no predictions are listed")
	}
	debug.FreeOSMemory()
	before := residentMB()
	fmt.Printf("| question | p50 ms | p99 ms | longest ms | kB | gzip kB |\n|---|--:|--:|--:|--:|--:|\n")
	over := 0
	for _, k := range kinds(b, refs) {
		took, largest := a.times(ctx, k, b.Asked)
		p50, p99 := quantile(took, .5), quantile(took, .99)
		if p99 >= 300*time.Millisecond {
			over++
		}
		fmt.Printf("| `%s` | %s | %s | %s | %.1f | %.1f |\n", k.name, ms(p50), ms(p99), ms(slices.Max(took)),
			float64(len(largest))/1000, float64(zipped(largest))/1000)
	}
	debug.FreeOSMemory()
	fmt.Printf("\n%d predictions, %d dead letters, %d erasures, %d leaves; each asked %d times; "+
		"resident memory %d MB before, %d MB after; %d over 300 ms\n",
		b.Predictions, b.Letters, b.Erasures, b.Leaves, b.Asked, before, residentMB(), over)
	if len(a.failed) > 0 {
		return fmt.Errorf("not answered: %.1000q", a.failed)
	}
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }

func quantile(took []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func zipped(body []byte) int {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(body) // it goes to memory
	_ = w.Close()
	return out.Len()
}

// times asks n times; pages begin anew after the last one.
func (a *asker) times(ctx context.Context, k kind, n int) (took []time.Duration, largest []byte) {
	next := ""
	for i := range n {
		q := question{path: k.pages + next}
		if k.nth != nil {
			q = k.nth(i)
		}
		began := time.Now()
		body, status := a.ask(ctx, q, nil)
		took = append(took, time.Since(began))
		if status != http.StatusOK {
			a.failed = append(a.failed, fmt.Sprintf("%s: %d", q.path, status))
		}
		if len(body) > len(largest) {
			largest = body
		}
		if k.nth == nil {
			var page struct {
				NextCursor *string `json:"next_cursor"`
			}
			if next = ""; json.Unmarshal(body, &page) == nil && page.NextCursor != nil {
				next = "&cursor=" + *page.NextCursor
			}
		}
	}
	return took, largest
}

// refs are references to transactions: alerts.
func (a *asker) refs(ctx context.Context) (out []string) {
	var page struct {
		Items []struct {
			Ref string `json:"ref"`
		} `json:"items"`
	}
	a.get(ctx, "/api/v1/alerts?limit=500", &page)
	for _, item := range page.Items {
		out = append(out, item.Ref)
	}
	return out
}

// kinds are all that is asked.
func kinds(b *benchmark, refs []string) []kind {
	const api = "/api/v1"
	random := rand.New(rand.NewPCG(1, 2))
	step := func() int { return 1 + random.IntN(b.Steps) }
	each := func(name, format string, of ...func() any) kind {
		return kind{name: name, nth: func(int) question {
			args := make([]any, len(of))
			for i, one := range of {
				args[i] = one()
			}
			return question{path: fmt.Sprintf(api+format, args...)}
		}}
	}
	timestep := func() any { return step() }
	ref := func() any { return refs[random.IntN(len(refs))] }
	share := func() any { return random.Float64() }
	request := func() any { return requestOf(random.IntN(b.Erasures)) }
	pages := func(path string) kind { return kind{name: path + "&cursor=", pages: api + path} }
	out := []kind{
		{name: "/ (console)", nth: func(int) question { return question{path: "/"} }},
		{name: "/console/app.js", nth: func(int) question { return question{path: "/console/app.js"} }},
		each("/alerts", "/alerts"), each("/alerts?limit=500", "/alerts?limit=500"), pages("/alerts?limit=500"),
		each("/alerts?timestep=", "/alerts?timestep=%d", timestep),
		each("/alerts?min_probability=&max_probability=", "/alerts?min_probability=.9&max_probability=%f", share),
		each("/predictions?limit=500", "/predictions?limit=500"), pages("/predictions?limit=500"),
		each("/predictions?timestep=", "/predictions?limit=500&timestep=%d", timestep),
		each("/predictions?max_probability=", "/predictions?limit=500&max_probability=%f", share),
		each("/transactions/{ref}", "/transactions/%s", ref),
		each("/transactions/{ref}/reasons", "/transactions/%s/reasons", ref),
		each("/transactions/{ref}/neighbourhood?distance=2", "/transactions/%s/neighbourhood?distance=2", ref),
		{name: "/transactions/lookup (100 ids)", nth: func(int) question {
			var ids []string
			for range 100 {
				ids = append(ids, string(idOf(lethe.Timestep(step()), random.IntN(b.Predictions/b.Steps))))
			}
			return question{api + "/transactions/lookup", map[string]any{"ids": ids}}
		}},
		each("/timesteps", "/timesteps"), pages("/timesteps?limit=10"),
		each("/timesteps/{timestep}", "/timesteps/%d", timestep),
		each("/timesteps/{timestep}/shards", "/timesteps/%d/shards", timestep),
		each("/quality", "/quality"), each("/quality?budget=20", "/quality?budget=20"),
		each("/quality?threshold=", "/quality?threshold=%f", share),
		each("/quality?timestep=", "/quality?timestep=%d", timestep),
		each("/ensembles", "/ensembles"), each("/ensembles/changes", "/ensembles/changes?from=%d&to=%d", timestep, timestep),
		each("/erasures", "/erasures"), pages("/erasures?limit=500"), each("/erasures/{key}", "/erasures/%s", request),
		each("/erasures/{key}/receipt", "/erasures/%s/receipt", request),
		each("/log", "/log"), each("/log/leaves", "/log/leaves"), pages("/log/leaves?limit=500"),
		each("/log/leaves/{index}/proof", "/log/leaves/%d/proof", func() any { return random.IntN(b.Leaves) }),
		each("/dead-letters", "/dead-letters"), pages("/dead-letters?limit=500"),
		pages("/dead-letters?limit=500&topic=transactions.v1"), each("/status", "/status"),
		each("/openapi.json", "/openapi.json"),
		each("/dead-letters/{topic}/{partition}/{offset}", "/dead-letters/transactions.v1/%d/%d", func() any { return 0 },
			func() any { return random.IntN(b.Letters/8) * 8 }),
	}
	for _, reason := range ingest.Reasons()[:3] {
		out = append(out, pages("/dead-letters?limit=500&reason="+string(reason)))
	}
	return out
}
