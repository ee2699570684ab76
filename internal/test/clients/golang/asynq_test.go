package golang

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
)

// postOffice is a worker of asynq and what it has done.
type postOffice struct {
	done  chan string
	tries atomic.Int32
}

func (p *postOffice) work(_ context.Context, task *asynq.Task) error {
	switch task.Type() {
	case "flaky":
		if n := p.tries.Add(1); n < 3 {
			return fmt.Errorf("try %d failed", n)
		}
	case "hopeless":
		return fmt.Errorf("no such address: %w", asynq.SkipRetry)
	}
	if w := task.ResultWriter(); w != nil {
		if _, err := w.Write([]byte("stamped")); err != nil {
			return err
		}
	}
	p.done <- task.Type() + " " + string(task.Payload())
	return nil
}

// next returns what the worker does next.
func (p *postOffice) next(t *testing.T) string {
	t.Helper()
	select {
	case what := <-p.done:
		return what
	case <-time.After(time.Minute):
		t.Fatal("no task was done within a minute")
		return ""
	}
}

func TestAsynq(t *testing.T) {
	redis := asynq.RedisClientOpt{Addr: address, Password: password}
	client, inspector := asynq.NewClient(redis), asynq.NewInspector(redis)
	defer client.Close()
	defer inspector.Close()
	enqueue := func(kind, payload string, options ...asynq.Option) *asynq.TaskInfo {
		t.Helper()
		info, err := client.Enqueue(asynq.NewTask(kind, []byte(payload)), options...)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}

	// Before there is a worker.
	first := enqueue("letter", "1", asynq.TaskID("first"), asynq.Retention(time.Hour))
	if _, err := client.Enqueue(asynq.NewTask("letter", nil), asynq.TaskID("first")); !errors.Is(err, asynq.ErrTaskIDConflict) {
		t.Errorf("a task with the ID of another: %v", err)
	}
	unique := []asynq.Option{asynq.Unique(time.Hour), asynq.Queue("low")}
	enqueue("parcel", "big", unique...)
	if _, err := client.Enqueue(asynq.NewTask("parcel", []byte("big")), unique...); !errors.Is(err, asynq.ErrDuplicateTask) {
		t.Errorf("a unique task again: %v", err)
	}
	scheduled := time.Now().Add(300 * time.Millisecond)
	enqueue("later", "x", asynq.ProcessAt(scheduled))
	enqueue("never", "x", asynq.ProcessIn(time.Hour))
	info, err := inspector.GetQueueInfo("default")
	if err != nil || info.Pending != 1 || info.Scheduled != 2 || info.Size != 3 {
		t.Fatalf("the queue is %+v, %v", info, err)
	}

	office := &postOffice{done: make(chan string, 100)}
	server := asynq.NewServer(redis, asynq.Config{
		Concurrency: 4, Queues: map[string]int{"default": 3, "low": 1}, LogLevel: asynq.FatalLevel,
		TaskCheckInterval: 200 * time.Millisecond, DelayedTaskCheckInterval: 50 * time.Millisecond,
		RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return 50 * time.Millisecond },
	})
	if err := server.Start(asynq.HandlerFunc(office.work)); err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	seen := map[string]bool{office.next(t): true, office.next(t): true, office.next(t): true}
	if !seen["letter 1"] || !seen["parcel big"] || !seen["later x"] {
		t.Errorf("done were %v", seen)
	}
	if time.Now().Before(scheduled.Truncate(time.Second)) {
		t.Error("a task came before its time")
	}
	enqueue("flaky", "x", asynq.MaxRetry(5))
	if got := office.next(t); got != "flaky x" || office.tries.Load() != 3 {
		t.Errorf("%s was done after %d tries", got, office.tries.Load())
	}
	hopeless := enqueue("hopeless", "x", asynq.MaxRetry(5))
	state(t, inspector, hopeless, asynq.TaskStateArchived, "no such address: skip retry for the task")
	done := state(t, inspector, first, asynq.TaskStateCompleted, "")
	if string(done.Result) != "stamped" {
		t.Errorf("the result is %q", done.Result)
	}
	if n, err := inspector.RunAllScheduledTasks("default"); n != 1 || err != nil {
		t.Errorf("RunAllScheduledTasks: %d, %v", n, err)
	}
	if got := office.next(t); got != "never x" {
		t.Errorf("done was %s", got)
	}
	for i := range 100 {
		enqueue("letter", fmt.Sprint(i))
	}
	many := map[string]bool{}
	for range 100 {
		many[office.next(t)] = true
	}
	if len(many) != 100 {
		t.Errorf("%d of 100 letters were delivered", len(many))
	}
	if servers, err := inspector.Servers(); err != nil || len(servers) != 1 || servers[0].Concurrency != 4 {
		t.Errorf("the servers are %v, %v", servers, err)
	}
}

// state waits for a task to be in a state.
func state(t *testing.T, i *asynq.Inspector, task *asynq.TaskInfo, want asynq.TaskState, lastErr string) *asynq.TaskInfo {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		info, err := i.GetTaskInfo(task.Queue, task.ID)
		if err != nil {
			t.Fatal(err)
		}
		if info.State == want {
			if info.LastErr != lastErr {
				t.Errorf("the last error is %q", info.LastErr)
			}
			return info
		}
		if time.Now().After(deadline) {
			t.Fatalf("the task %s is %v, not %v", task.Type, info.State, want)
		}
	}
}
