package targets

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// AddNodeFlag adds --this-node to a verb that reads or writes all keys: see CheckNode.
func (o *Reach) AddNodeFlag(cmd *cobra.Command) {
	o.allKeys = true
	cmd.Flags().BoolVar(&o.thisNode, "this-node", false, "use one node of a Redis Cluster, with its keys")
}

// CheckNode returns an error if c is one node of a Redis Cluster and the verb reads all keys: other nodes may have
// keys, too. It returns nil with --this-node, for a server that does not report its mode, and for meowdis, which
// always has all slots.
func (o *Reach) CheckNode(ctx context.Context, c *Conn) error {
	return o.checkNode(ctx, c, "other nodes may have keys, too; --this-node reads only the keys of this node")
}

// CheckNodeToWrite is CheckNode for a destination: the node would refuse keys of other nodes after it has taken some
// of its own.
func (o *Reach) CheckNodeToWrite(ctx context.Context, c *Conn) error {
	return o.checkNode(ctx, c, "it refuses keys of other nodes, and nothing was written; --this-node writes the keys of this node")
}

func (o *Reach) checkNode(ctx context.Context, c *Conn, reason string) error {
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
		return fmt.Errorf("%s is one node of a Redis Cluster: %s", c.Target, reason)
	}
	return nil
}
