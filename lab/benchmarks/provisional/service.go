package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lethe"
	"lethe/service"
)

// trained waits until the service has learnt from a timestep.
func (b *benchmark) trained(ctx context.Context, t lethe.Timestep) error {
	const look, patience = 100 * time.Millisecond, 10 * time.Minute
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		var status service.Status
		if err := b.status(ctx, &status); err != nil {
			return err
		}
		if status.TrainedThrough >= t {
			return nil
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("the service does not learn from timestep %d", t)
}

func (b *benchmark) status(ctx context.Context, into *service.Status) error {
	response, err := b.get(ctx, "/api/v1/status")
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	return json.NewDecoder(response.Body).Decode(into)
}

// processorSeconds is what the service has used of all processors so far, which says more
// than time where others use them too.
func (b *benchmark) processorSeconds(ctx context.Context) (float64, error) {
	response, err := b.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), "process_cpu_seconds_total "); found {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, errors.New("the service does not tell its processor time")
}

func (b *benchmark) get(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL+path, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request)
}
