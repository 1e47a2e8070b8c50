package events_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/metrics/events"
)

// recording returns a listener all of whose functions append their field's
// name and the given mark to log.
func recording(log *[]string, mark string) events.Listener {
	var l events.Listener
	v := reflect.ValueOf(&l).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		v.Field(i).Set(reflect.MakeFunc(v.Field(i).Type(), func([]reflect.Value) []reflect.Value {
			*log = append(*log, name+mark)
			return nil
		}))
	}
	return l
}

func call(l events.Listener, field int) {
	f := reflect.ValueOf(l).Field(field)
	f.Call([]reflect.Value{reflect.Zero(f.Type().In(0))})
}

// A field that Tee forgets would lose its events without a word.
func TestTeePassesEveryEventOnInOrder(t *testing.T) {
	var log []string
	both := events.Tee(recording(&log, " first"), events.Listener{}, recording(&log, " second"))
	fields := reflect.TypeFor[events.Listener]()
	for i := range fields.NumField() {
		log = nil
		call(both, i)
		name := fields.Field(i).Name
		require.Equal(t, []string{name + " first", name + " second"}, log)
	}
}

func TestTeeFillsEveryFunction(t *testing.T) {
	l := events.Tee(events.Listener{})
	fields := reflect.TypeFor[events.Listener]()
	for i := range fields.NumField() {
		require.NotPanics(t, func() { call(l, i) }, fields.Field(i).Name)
	}
	called := false
	l = events.Tee(events.Listener{ErasureVerificationFailed: func(events.ErasureVerificationFailed) { called = true }})
	l.ErasureVerificationFailed(events.ErasureVerificationFailed{})
	require.True(t, called, "functions that are given must stay")
}

// Events may end up anywhere, so their types cannot hold an id or a feature.
func TestEventsCarryNoPersonalData(t *testing.T) {
	listener := reflect.TypeFor[events.Listener]()
	for i := range listener.NumField() {
		event := listener.Field(i).Type.In(0)
		for j := range event.NumField() {
			f := event.Field(j)
			require.NotContains(t, []string{
				"lethe.TransactionID", "lethe.Pseudonym", "lethe.ErasureRequest", "lethe.Transaction", "lethe.Secret",
			}, f.Type.String(), event.Name()+"."+f.Name)
			require.NotRegexp(t, `(?i)request_?id|features?$|subject|node|payload|value`, f.Name, event.Name())
		}
	}
}
