package server

const LongEnough = longEnough
