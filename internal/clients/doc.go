// Package clients holds the tests that drive a served file with the clients that
// people use: redis-cli, go-redis, and Node's ioredis, redis and @upstash/redis.
// What a client is made to do over RESP it is made to do with redis-server too,
// so that a tour says nothing that is true of meowdis only.
package clients
