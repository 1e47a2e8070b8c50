package events

// WebhookOutcome is what came of an alert that was to be posted.
type WebhookOutcome string

// The outcomes.
const (
	// WebhookDelivered: the receiver took it.
	WebhookDelivered WebhookOutcome = "delivered"
	// WebhookFailed: it did not, and is asked again.
	WebhookFailed WebhookOutcome = "failed"
	// WebhookUndelivered: it is not asked again before the process starts anew.
	WebhookUndelivered WebhookOutcome = "undelivered"
	// WebhookErased: the transaction was erased before, and nothing was sent.
	WebhookErased WebhookOutcome = "erased"
)

// WebhookOutcomes lists every outcome.
func WebhookOutcomes() []WebhookOutcome {
	return []WebhookOutcome{WebhookDelivered, WebhookFailed, WebhookUndelivered, WebhookErased}
}

// WebhookTried says what came of a try, or nothing if there was none, and how many alerts are
// undelivered.
type WebhookTried struct {
	Outcome     WebhookOutcome
	Undelivered int
}
