package golang

import (
	"testing"

	"github.com/redis/go-redis/v9"
)

// Clients that know only clusters find one node that has all slots.
func TestGoRedisCluster(t *testing.T) {
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{address}, Password: password, MaxRetries: -1})
	t.Cleanup(func() { c.Close() })
	equal(t, c.Set(ctx, "tom", "cat", 0), "OK")
	equal(t, c.Set(ctx, "felix", "cat", 0), "OK")
	equal(t, c.Get(ctx, "tom"), "cat")
	equal(t, c.DBSize(ctx), 2)
	pipe := c.Pipeline()
	tom, felix := pipe.Get(ctx, "tom"), pipe.Get(ctx, "felix")
	if _, err := pipe.Exec(ctx); err != nil {
		t.Error(err)
	}
	equal(t, tom, "cat")
	equal(t, felix, "cat")
}
