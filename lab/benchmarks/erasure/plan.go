package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"lethe"
	"lethe/service"
)

// plan asks what the requests of a round would take together.
func (d *deployment) plan(ctx context.Context, list []lethe.ErasureRequest, r row) (row, error) {
	asked := service.PlanRequest{Scopes: []string{string(list[0].Scope)}}
	for _, request := range list {
		for _, target := range request.Targets {
			if target.Kind == lethe.SubjectTarget {
				asked.Subjects = append(asked.Subjects, target.Subject)
			} else {
				asked.Nodes = append(asked.Nodes, string(target.Transaction))
			}
		}
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return r, err
	}
	address := "http://" + d.service.HTTPAddress() + "/api/v1/erasures/plan"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return r, err
	}
	request.Header.Set("Content-Type", "application/json")
	began := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return r, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read to its end
	if response.StatusCode != http.StatusOK {
		return r, fmt.Errorf("the service answers %s", response.Status)
	}
	var plan service.Plan
	if err := json.NewDecoder(response.Body).Decode(&plan); err != nil {
		return r, err
	}
	r.PlanSeconds, r.Basis = time.Since(began).Seconds(), plan.Basis
	r.Planned, r.PlannedProcessor = plan.Scopes[0].Seconds, plan.Scopes[0].Processor
	return r, nil
}

// off is by which factor an estimate was wrong, at least 1.
func off(planned, took float64) float64 { return max(planned/took, took/planned) }

// within is the factor that most of the estimates are to be within.
const within = 1.5

// writeEstimates says how good the estimates of plans were, if there were any.
func writeEstimates(w io.Writer, rows []row) error {
	var factors, ratios, answers []float64
	good := 0
	for _, r := range rows {
		if r.Planned == 0 {
			continue
		}
		f := off(r.Planned, r.Swapped)
		factors, answers = append(factors, f), append(answers, r.PlanSeconds)
		ratios = append(ratios, r.Planned/r.Swapped)
		if f <= within {
			good++
		}
	}
	if len(factors) == 0 {
		return nil
	}
	slices.Sort(factors)
	slices.Sort(ratios)
	slices.Sort(answers)
	_, err := fmt.Fprintf(w, "\nplans: of %d estimates of the time until swapped %d were within a factor of %.1f; "+
		"in the median they are %.2f times what it took, half of them are off by %.2f, nine of ten by at most %.2f, "+
		"the worst by %.2f; an answer took %.3f s (%.3f)\n",
		len(factors), good, within, ratios[len(ratios)/2], factors[len(factors)/2],
		factors[len(factors)*9/10], factors[len(factors)-1],
		answers[len(answers)/2], answers[len(answers)-1])
	return err
}
