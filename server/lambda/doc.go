// Package lambda answers events of AWS Lambda's function URLs with a handler of HTTP:
// https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html.
package lambda
