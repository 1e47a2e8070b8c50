package scan_test

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
)

// plain finds in the plainest way what the features of transactions are that a text tells of, with encoding/json and a
// list of everything: by "id>columns".
type plain struct {
	of    map[string][]lethe.Columns
	key   string
	found map[string]bool
}

func (p *plain) value(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		return p.object(d)
	case json.Delim('['):
		for d.More() {
			if err := p.value(d); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

func (p *plain) object(d *json.Decoder) error {
	ids, rows := []string{p.key}, []json.RawMessage(nil)
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		var id string
		switch name {
		case "features":
			err = d.Decode(&raw)
			rows = append(rows, raw)
		case "id":
			if err = d.Decode(&raw); json.Unmarshal(raw, &id) == nil {
				ids = append(ids, id)
			}
		default:
			err = p.value(d)
		}
		if err != nil {
			return err
		}
	}
	for _, id := range ids {
		for _, columns := range p.of[id] {
			for _, raw := range rows {
				row, unclear := plainRow(raw)
				if _, changed := columns.Zeroed(row); changed || unclear {
					p.found[id+">"+columns.String()] = true
				}
			}
		}
	}
	_, err := d.Token()
	return err
}

func plainRow(raw json.RawMessage) (row []float32, unclear bool) {
	var list []any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	unclear = d.Decode(&list) != nil
	for _, one := range list {
		v := lethe.Missing()
		if n, isNumber := one.(json.Number); isNumber {
			parsed, err := strconv.ParseFloat(n.String(), 32)
			mantissa := regexp.MustCompile(`[eE].*`).ReplaceAllString(n.String(), "")
			small := parsed == 0 && !math.Signbit(parsed) && strings.ContainsAny(mantissa, "123456789")
			unclear, v = unclear || err != nil || small, float32(parsed)
		} else if one != nil {
			unclear = true
		}
		row = append(row, v)
	}
	return row, unclear
}

// carriesPlainly reports whether a text that is whole carries a subject, as encoding/json reads it.
func carriesPlainly(text []byte, subject string, until lethe.Timestep) bool {
	var said struct {
		Timestep *lethe.Timestep `json:"timestep"`
		Subjects []any           `json:"subjects"`
	}
	_ = json.Unmarshal(text, &said)
	for _, one := range said.Subjects {
		if one == subject && (said.Timestep == nil || *said.Timestep <= until) {
			return true
		}
	}
	return false
}

// What a plain reading finds is found, and of a text that is whole no other features.
func FuzzMatchRecord(f *testing.F) {
	const until = 5
	of := map[string][]lethe.Columns{"a": {nil}, "bé": {{0}, {1, 3}}}
	var names []string
	var targets []lethe.Target
	for id, each := range of {
		for _, columns := range each {
			targets = append(targets, featuresOf(lethe.TransactionID(id), columns))
			names = append(names, id+">"+columns.String())
		}
	}
	sc := scannerOf(f, targetPrints(f, append(targets, lethe.SubjectThrough("ann", until))...)...)
	for _, seed := range []string{
		`{"id":"a","features":[0,-0,1e-99,null],"x":[{"id":"b\u00e9","features":[1,{},[]]}],"features":"1"}`,
		`{"id":"bé","features":[0,1,0,0],"id":null,"features":[]} {"id":"a"`, `{"features":{"id":"a","features":[1]}}`,
		`{"timestep":3,"subjects":["ann",1,[]],"TIMEſTEP":9}`, `{"subjects":["\u0061nn"],"subjects":null,"timestep":"x"}`,
		`["ann"]`, `{"id":"a","x":1e700,"features":"0"}`,
		`{"timestep":-1,"sUbjects":["ann"]}`, `{"features":"x","id":"a"`, `{"features":5,"id":"a"}}`,
	} {
		f.Add("a", []byte(seed))
		f.Add("", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, key string, text []byte) {
		p := plain{of: of, key: key, found: make(map[string]bool)}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		_ = p.value(d)
		found, carries := make(map[string]bool), false
		for _, h := range sc.MatchRecord([]byte(key), text) {
			switch h.Kind {
			case scan.KindFeaturesOf:
				found[names[h.Fingerprint]] = true
			case scan.KindSubject:
				carries = true
			default:
			}
		}
		if json.Valid(text) {
			require.Equal(t, p.found, found)
			if bytes.Contains(text, []byte("ubjects")) {
				require.True(t, carries || !carriesPlainly(text, "ann", until))
			}
			return
		}
		for name := range p.found {
			require.True(t, found[name], name)
		}
	})
}
