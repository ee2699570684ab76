package engine

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator"
)

// Rehearse passes each step of p to see. It runs the steps that decide on the next one, which only read, but
// not the last step. answer is the reply if it is known without the last step, and nil otherwise.
func Rehearse(run Run, p translator.Plan, see func(translator.Plan) error) (answer *resp.Value, err error) {
	for {
		if len(p.Batch.Stmts) == 0 {
			return &p.Reply, nil
		}
		if err := see(p); err != nil || p.Then == nil {
			return nil, err
		}
		r, err := run(p.Batch)
		if err != nil {
			return nil, err
		}
		if r.Refused != nil {
			v, err := refusal(p.Batch.Stmts[r.Refused.At], r.Refused)
			return &v, err
		}
		if p, err = new(Engine).nextPlan(&p, &r, nil); err != nil {
			return nil, err
		}
	}
}
