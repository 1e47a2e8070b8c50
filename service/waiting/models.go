package waiting

import "fmt"

// modelsMissing finds a settled timestep whose models are not all published, although they had time to be trained.
func modelsMissing(f Facts) []Condition {
	if f.Models == 0 {
		return nil
	}
	c := Condition{Lasts: trainingTimes * f.After, Wait: Wait{
		Cause: ModelsMissing, Move: Operator,
		Message: fmt.Sprintf("Timestep %d is settled, and %d of %d models trained through it are not published.", f.Awaited,
			f.Models-f.ModelsPresent, f.Models),
		Do: "See the log of the processes with the role train; if training takes so long, raise waiting.after.",
	}}.of(f.Awaited)
	c.Sign += fmt.Sprintf(" %d", f.ModelsPresent)
	return []Condition{c}
}
