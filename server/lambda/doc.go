// Package lambda serves AWS Lambda function URLs with an http.Handler:
// https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html.
package lambda
