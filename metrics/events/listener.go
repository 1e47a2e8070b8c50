package events

// Listener receives events. Its functions may be nil for components that use it through Tee.
// Functions are called from several goroutines at once, synchronously with the work: they must be
// quick and must not block.
type Listener struct {
	// RecordsConsumed follows every batch of consumed records whose outcome is durable.
	RecordsConsumed func(RecordsConsumed)
	// RecordDeadLettered follows every published dead letter.
	RecordDeadLettered func(RecordDeadLettered)
	// LagMeasured follows every measurement of a partition's lag.
	LagMeasured func(LagMeasured)
	// RecordsMissed follows every range of a partition that cannot be read.
	RecordsMissed func(RecordsMissed)
	// BrokersProbed follows every probe of the brokers.
	BrokersProbed func(BrokersProbed)
	// OutageChanged follows every change of the current outages.
	OutageChanged func(OutageChanged)
	// DiskChanged follows every change of the writes that wait for a disk.
	DiskChanged func(DiskChanged)
	// WaitsChanged follows every update of the current waits.
	WaitsChanged func(WaitsChanged)

	// SnapshotChanged follows every change of a timestep's state.
	SnapshotChanged func(SnapshotChanged)
	// SnapshotPartitioned follows every partition of a settled timestep.
	SnapshotPartitioned func(SnapshotPartitioned)

	// ShardTrained follows every training of one shard on one timestep.
	ShardTrained func(ShardTrained)
	// EnsembleSwapped follows every change of the served models.
	EnsembleSwapped func(EnsembleSwapped)
	// SnapshotScored follows every timestep whose predictions have been published.
	SnapshotScored func(SnapshotScored)
	// ReasonsOwed follows every change of the number of alerts without reasons.
	ReasonsOwed func(ReasonsOwed)
	// ProvisionallyScored follows every pass over newly arrived transactions.
	ProvisionallyScored func(ProvisionallyScored)
	// TransactionPassed follows every stage of transactions that a Sampler chooses.
	TransactionPassed func(TransactionPassed)
	// QualityMeasured follows every comparison of a timestep's predictions with its labels.
	QualityMeasured func(QualityMeasured)

	// WebhookTried follows every try to post an alert.
	WebhookTried func(WebhookTried)

	// ErasureChanged follows every change of a request's state.
	ErasureChanged func(ErasureChanged)
	// ErasurePhaseDone follows every finished phase of a request.
	ErasurePhaseDone func(ErasurePhaseDone)
	// ErasureAnswered follows every acknowledgement of a command by a process.
	ErasureAnswered func(ErasureAnswered)
	// ErasureVerificationFailed follows every search that found traces at its deadline.
	ErasureVerificationFailed func(ErasureVerificationFailed)
	// ErasuresOpen follows every change of the number of open requests or of the oldest one, and
	// is sent once at the start.
	ErasuresOpen func(ErasuresOpen)
}

// Tee returns a listener that passes every event to all listeners in order. None of its functions
// is nil; those that no listener has do nothing.
func Tee(listeners ...Listener) Listener {
	return Listener{
		RecordsConsumed:    tee(listeners, func(l Listener) func(RecordsConsumed) { return l.RecordsConsumed }),
		RecordDeadLettered: tee(listeners, func(l Listener) func(RecordDeadLettered) { return l.RecordDeadLettered }),
		LagMeasured:        tee(listeners, func(l Listener) func(LagMeasured) { return l.LagMeasured }),
		RecordsMissed:      tee(listeners, func(l Listener) func(RecordsMissed) { return l.RecordsMissed }),
		BrokersProbed:      tee(listeners, func(l Listener) func(BrokersProbed) { return l.BrokersProbed }),
		OutageChanged:      tee(listeners, func(l Listener) func(OutageChanged) { return l.OutageChanged }),
		DiskChanged:        tee(listeners, func(l Listener) func(DiskChanged) { return l.DiskChanged }),
		SnapshotChanged:    tee(listeners, func(l Listener) func(SnapshotChanged) { return l.SnapshotChanged }),
		WaitsChanged:       tee(listeners, func(l Listener) func(WaitsChanged) { return l.WaitsChanged }),
		SnapshotPartitioned: tee(listeners,
			func(l Listener) func(SnapshotPartitioned) { return l.SnapshotPartitioned }),
		ShardTrained:    tee(listeners, func(l Listener) func(ShardTrained) { return l.ShardTrained }),
		EnsembleSwapped: tee(listeners, func(l Listener) func(EnsembleSwapped) { return l.EnsembleSwapped }),
		SnapshotScored:  tee(listeners, func(l Listener) func(SnapshotScored) { return l.SnapshotScored }),
		ReasonsOwed:     tee(listeners, func(l Listener) func(ReasonsOwed) { return l.ReasonsOwed }),
		ProvisionallyScored: tee(listeners,
			func(l Listener) func(ProvisionallyScored) { return l.ProvisionallyScored }),
		TransactionPassed: tee(listeners,
			func(l Listener) func(TransactionPassed) { return l.TransactionPassed }),
		QualityMeasured:  tee(listeners, func(l Listener) func(QualityMeasured) { return l.QualityMeasured }),
		WebhookTried:     tee(listeners, func(l Listener) func(WebhookTried) { return l.WebhookTried }),
		ErasureChanged:   tee(listeners, func(l Listener) func(ErasureChanged) { return l.ErasureChanged }),
		ErasurePhaseDone: tee(listeners, func(l Listener) func(ErasurePhaseDone) { return l.ErasurePhaseDone }),
		ErasureAnswered:  tee(listeners, func(l Listener) func(ErasureAnswered) { return l.ErasureAnswered }),
		ErasureVerificationFailed: tee(listeners,
			func(l Listener) func(ErasureVerificationFailed) { return l.ErasureVerificationFailed }),
		ErasuresOpen: tee(listeners, func(l Listener) func(ErasuresOpen) { return l.ErasuresOpen }),
	}
}

func tee[E any](listeners []Listener, of func(Listener) func(E)) func(E) {
	var functions []func(E)
	for _, l := range listeners {
		if f := of(l); f != nil {
			functions = append(functions, f)
		}
	}
	return func(event E) {
		for _, f := range functions {
			f(event)
		}
	}
}
