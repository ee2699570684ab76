// Package clients holds the tests that drive a served file with what people use: the clients
// redis-cli, go-redis, and Node's ioredis, redis and @upstash/redis, and programs that are made
// with them, such as BullMQ. What is done over RESP is done with redis-server too, so that no test
// says what is true of meowdis only.
package clients
