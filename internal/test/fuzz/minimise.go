package fuzz

// minimise reduces a case to steps that are all necessary: the rest still differs at the same
// command.
func minimise(steps []step, found *difference, play func([]step) *difference) ([]step, *difference) {
	if found.at < len(steps) {
		steps = steps[:found.at+1]
	}
	for size := len(steps) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(steps); {
			shorter := append(steps[:at:at], steps[at+size:]...)
			if d := play(shorter); d != nil && d.command == found.command {
				steps, found = shorter[:min(len(shorter), d.at+1)], d
			} else {
				at += size
			}
		}
	}
	return steps, found
}
