package ingest

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lethe"
)

// cpuTime is what the process has used of the processors, in ns: on a busy
// machine it says more than the clock.
func cpuTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkTokenizers parses the values of transactions with 165 features of
// Bitcoin-OTC, payments and labels, and a stream of one of each in turn.
func BenchmarkTokenizers(b *testing.B) {
	f, err := os.Open("../../shared/data/bitcoin-otc/elliptic-format/elliptic_txs_features.csv")
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	var all []float32
	for s := bufio.NewScanner(f); s.Scan() && len(all) < 165*200; {
		for _, text := range strings.Split(s.Text(), ",")[2:] {
			v, _ := strconv.ParseFloat(text, 32)
			all = append(all, float32(v))
		}
	}
	records := map[string][]Record{}
	add := func(kind string, key, value []byte, err error) {
		if err != nil {
			b.Fatal(err)
		}
		records[kind] = append(records[kind], Record{Key: key, Value: value})
		records["stream"] = append(records["stream"], Record{Key: key, Value: value})
	}
	for i := range 200 {
		id := lethe.TransactionID(fmt.Sprint(230007682 + i))
		k, v, err := EncodeTransaction(lethe.Transaction{ID: id, Timestep: 17, Features: all[i*165 : (i+1)*165]})
		add("transaction", k, v, err)
		k, v, err = EncodePayment(lethe.Payment{Source: id, Target: id + "9", Timestep: 17})
		add("payment", k, v, err)
		k, v, err = EncodeLabel(lethe.LabelRecord{ID: id, Timestep: 17, Label: lethe.Illicit})
		add("label", k, v, err)
	}
	for _, kind := range []string{"transaction", "payment", "label", "stream"} {
		for _, name := range []string{"ours", "jsontext"} {
			b.Run(kind+"/"+name, func(b *testing.B) {
				parse := parseObject
				if name == "jsontext" {
					parse = parseByJsontext
				}
				began := cpuTime(b)
				b.ReportAllocs()
				for b.Loop() {
					for _, rec := range records[kind] {
						_, err := parse(rec.Value, 165)
						if err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(cpuTime(b)-began)/float64(b.N*len(records[kind])), "cpu-ns/record")
			})
		}
	}
}
