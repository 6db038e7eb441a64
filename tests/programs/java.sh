#!/bin/bash
# SPDX-License-Identifier: MIT
# A class compiled and run by the virtual machine with its default heap: 16 threads, garbage, a server on loopback, a child process.
# The sum of 1 to 1600 is 1280800.
# needs: command -v javac && command -v java
# prints: 1280800 from 16 threads
# prints: loopback says hello
# prints: a child says hello
set -euo pipefail
cat >Main.java <<'CODE'
import java.io.*;
import java.net.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

public class Main {
    static byte[] garbage;
    public static void main(String[] arguments) throws Exception {
        AtomicLong sum = new AtomicLong();
        Thread[] threads = new Thread[16];
        for (int t = 0; t < threads.length; ++t) {
            final int from = t * 100;
            threads[t] = new Thread(() -> { for (int n = 1; n <= 100; ++n) { sum.addAndGet(from + n); garbage = new byte[65536]; } });
            threads[t].start();
        }
        for (Thread thread : threads) thread.join();
        System.gc();
        System.out.println(sum + " from " + threads.length + " threads");
        try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            ExecutorService pool = Executors.newFixedThreadPool(2);
            pool.submit(() -> { try (Socket peer = server.accept()) { peer.getOutputStream().write("loopback says hello\n".getBytes()); } return null; });
            try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
                System.out.println(new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine());
            }
            pool.shutdown();
        }
        Process child = new ProcessBuilder("echo", "a child says hello").redirectErrorStream(true).start();
        System.out.println(new BufferedReader(new InputStreamReader(child.getInputStream())).readLine());
        System.exit(child.waitFor());
    }
}
CODE
javac Main.java
java Main
