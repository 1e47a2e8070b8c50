package events

// Listener is told what happens. A nil function is not called by those who
// take the listener through Tee. Functions are called from several
// goroutines at once, on the path of the work itself: they must be quick and
// must not block.
type Listener struct {
	// RecordsConsumed follows every batch of records that was taken from a
	// topic and whose outcome is durable.
	RecordsConsumed func(RecordsConsumed)
	// RecordDeadLettered follows every record written to the dead letters.
	RecordDeadLettered func(RecordDeadLettered)
	// LagMeasured follows every look at how far a partition has been read.
	LagMeasured func(LagMeasured)
	// RecordsMissed follows every stretch of a partition that cannot be read.
	RecordsMissed func(RecordsMissed)
	// BrokersProbed follows every look at whether brokers answer.
	BrokersProbed func(BrokersProbed)
	// OutageChanged follows every change of what is waited for.
	OutageChanged func(OutageChanged)
	// DiskChanged follows every change of what waits for a disk.
	DiskChanged func(DiskChanged)
	// WaitsChanged follows every look at what is waited for.
	WaitsChanged func(WaitsChanged)

	// SnapshotChanged follows every change of a timestep's state.
	SnapshotChanged func(SnapshotChanged)
	// SnapshotPartitioned follows every partition of a settled timestep.
	SnapshotPartitioned func(SnapshotPartitioned)

	// ShardTrained follows every training of one shard on one timestep.
	ShardTrained func(ShardTrained)
	// EnsembleSwapped follows every change of the served models.
	EnsembleSwapped func(EnsembleSwapped)
	// SnapshotScored follows every timestep whose predictions are published.
	SnapshotScored func(SnapshotScored)
	// ReasonsOwed follows every change of the number of alerts whose reasons are to be published.
	ReasonsOwed func(ReasonsOwed)
	// ProvisionallyScored follows every pass over transactions that arrived.
	ProvisionallyScored func(ProvisionallyScored)
	// TransactionPassed follows every stage of transactions that a Sampler chooses.
	TransactionPassed func(TransactionPassed)
	// QualityMeasured follows every comparison of a timestep's predictions
	// with its labels.
	QualityMeasured func(QualityMeasured)

	// WebhookTried follows every try to post an alert.
	WebhookTried func(WebhookTried)

	// ErasureChanged follows every step of a request through its states.
	ErasureChanged func(ErasureChanged)
	// ErasurePhaseDone follows every finished phase of a request.
	ErasurePhaseDone func(ErasurePhaseDone)
	// ErasureAnswered follows every answer of a process to a command.
	ErasureAnswered func(ErasureAnswered)
	// ErasureVerificationFailed says that a search found something left.
	ErasureVerificationFailed func(ErasureVerificationFailed)
	// ErasuresOpen says how many requests are not done; sent whenever that
	// number or the oldest of them changes, and once at the start.
	ErasuresOpen func(ErasuresOpen)
}

// Tee returns a listener that passes every event on to all listeners in order.
// None of its functions is nil; those that no listener has do nothing.
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
