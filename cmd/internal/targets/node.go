package targets

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// AddNodeFlag adds --this-node to a verb that reads all keys: see CheckNode.
func (o *Reach) AddNodeFlag(cmd *cobra.Command) {
	o.allKeys = true
	cmd.Flags().BoolVar(&o.thisNode, "this-node", false, "of a Redis Cluster, read only the keys of this node")
}

// CheckNode returns an error if c is one node of a Redis Cluster and the verb reads all keys: other nodes may have
// keys, too. It returns nil with --this-node, for a server that does not report its mode, and for meowdis, which
// always has all slots.
func (o *Reach) CheckNode(ctx context.Context, c *Conn) error {
	if !o.allKeys || o.thisNode || !c.Target.IsServer() || c.Target.IsREST() {
		return nil
	}
	v, err := c.Do(ctx, []byte("INFO"))
	if err != nil {
		return err
	}
	clustered := bytes.Contains(v.Str, []byte("cluster_enabled:1")) && !bytes.Contains(v.Str, []byte("\nmeowdis:"))
	if v.IsError() || !bytes.Contains(v.Str, []byte("cluster_enabled:")) {
		if v, err = c.Do(ctx, []byte("CLUSTER"), []byte("INFO")); err != nil {
			return err
		}
		clustered = !v.IsError() && bytes.Contains(v.Str, []byte("cluster_state:"))
	}
	if clustered {
		return fmt.Errorf("%s is one node of a Redis Cluster: other nodes may have keys, too; --this-node reads only the keys of this node", c.Target)
	}
	return nil
}
