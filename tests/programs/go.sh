#!/bin/bash
# SPDX-License-Identifier: MIT
# A program built offline, its cache in the sandbox's home: 100 goroutines that talk to a listener on loopback. The sum of 1 to 100
# is 5050.
# needs: command -v go
# prints: 5050 from 100 connections
set -euo pipefail
export GOTOOLCHAIN=local GOPROXY=off
cat >go.mod <<'CODE'
module program
go 1.19
CODE
cat >main.go <<'CODE'
package main

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var sum int64
	var clients, servers sync.WaitGroup
	servers.Add(1)
	go func() {
		defer servers.Done()
		for i := 0; i < 100; i++ {
			peer, err := listener.Accept()
			if err != nil {
				panic(err)
			}
			servers.Add(1)
			go func() {
				defer servers.Done()
				text, _ := io.ReadAll(peer)
				var n int64
				fmt.Sscan(string(text), &n)
				atomic.AddInt64(&sum, n)
				peer.Close()
			}()
		}
	}()
	for n := 1; n <= 100; n++ {
		clients.Add(1)
		go func(n int) {
			defer clients.Done()
			conn, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				panic(err)
			}
			fmt.Fprint(conn, n)
			conn.Close()
		}(n)
	}
	clients.Wait()
	servers.Wait()
	fmt.Println(sum, "from 100 connections")
}
CODE
go build -o program .
./program
