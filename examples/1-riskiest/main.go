// Command 1-riskiest lists the three likeliest alerts of a lethe at the address in its first argument.
// It needs nothing but the standard library.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	if err := list(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func list(address string) error {
	answer, err := http.Get(address + "/api/v1/alerts?limit=3")
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	var page struct {
		Items []struct {
			Ref         string  `json:"ref"`
			Timestep    int     `json:"timestep"`
			Probability float64 `json:"probability"`
		} `json:"items"`
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
		return err
	}
	for _, alert := range page.Items {
		fmt.Printf("%s of timestep %d: %v\n", alert.Ref, alert.Timestep, alert.Probability)
	}
	return nil
}
