package events

// WebhookOutcome is the outcome of posting an alert.
type WebhookOutcome string

// The outcomes.
const (
	// WebhookDelivered: the receiver accepted it.
	WebhookDelivered WebhookOutcome = "delivered"
	// WebhookFailed: the receiver did not accept it, and it will be retried.
	WebhookFailed WebhookOutcome = "failed"
	// WebhookUndelivered: it is not retried before the process restarts.
	WebhookUndelivered WebhookOutcome = "undelivered"
	// WebhookErased: the transaction was erased first, and nothing was sent.
	WebhookErased WebhookOutcome = "erased"
)

// WebhookOutcomes lists every outcome.
func WebhookOutcomes() []WebhookOutcome {
	return []WebhookOutcome{WebhookDelivered, WebhookFailed, WebhookUndelivered, WebhookErased}
}

// WebhookTried reports the outcome of a try, or none if there was no try, and how many alerts are
// undelivered.
type WebhookTried struct {
	Outcome     WebhookOutcome
	Undelivered int
}
