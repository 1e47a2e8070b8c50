// Command 3-forget asks lethe to forget a transaction, waits until that is verified and keeps the signed
// receipt. Its arguments are the address, the name of the request, the transaction's id and a file.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	api, name, id, file := os.Args[1]+"/api/v1", os.Args[2], os.Args[3], os.Args[4]
	receipt, err := forget(api, name, id)
	if err == nil {
		err = os.WriteFile(file, receipt, 0o600)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("verified")
}

// forget returns the receipt once there is one.
func forget(api, name, id string) ([]byte, error) {
	asked := map[string]any{"request_id": name, "nodes": []string{id}}
	if _, _, err := ask(http.MethodPost, api+"/erasures", asked); err != nil {
		return nil, err
	}
	for {
		text, code, err := ask(http.MethodGet, api+"/erasures/"+name, nil)
		var status struct {
			State string `json:"state"`
		}
		if err == nil {
			err = json.Unmarshal(text, &status)
		}
		switch {
		case code == http.StatusNotFound: // it has not come back from the topics yet
		case err != nil:
			return nil, err
		case status.State == "verified":
			receipt, _, err := ask(http.MethodGet, api+"/erasures/"+name+"/receipt", nil)
			return receipt, err
		case status.State == "rejected", status.State == "failed":
			return nil, errors.New(status.State)
		}
		time.Sleep(time.Second)
	}
}

// ask returns the body and the status of the response; an error if the status is not 200.
func ask(method, address string, body any) ([]byte, int, error) {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return nil, 0, err
		}
	}
	request, err := http.NewRequest(method, address, &sent)
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return text, answer.StatusCode, err
}
