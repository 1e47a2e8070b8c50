// Command 2-verdict records the verdict illicit on a transaction: the address of lethe and the transaction's
// reference, as in alerts, are its arguments.
package main

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	if err := say(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
	fmt.Println("said")
}

func say(address, ref string) error {
	at := address + "/api/v1/transactions/" + ref + "/label"
	answer, err := http.Post(at, "application/json", strings.NewReader(`{"label":"illicit"}`))
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}
