// Package clients tests a served file with common clients: redis-cli, go-redis, Node's
// ioredis, redis and @upstash/redis, and programs built on them, such as BullMQ. Every RESP
// test also runs against redis-server, so no test expects behaviour of meowdis alone.
package clients
