#!/bin/bash
# SPDX-License-Identifier: MIT
# A master and two workers serve a file on a high port, read their configuration anew, and end when told.
# needs: PATH=$PATH:/usr/sbin command -v nginx
# prints: HTTP/1.1 200 OK
# prints: a file that is served
# prints: HTTP/1.1 200 OK
# prints: another file
# prints: ended 0
set -euo pipefail
PATH=$PATH:/usr/sbin
mkdir files other tmp
echo 'a file that is served' >files/page
echo 'another file' >other/page
configuration() {
    cat <<CODE
daemon off;
worker_processes 2;
pid nginx.pid;
error_log stderr notice;
events { worker_connections 256; }
http {
    access_log access.log;
    client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
    sendfile on;
    server { listen 127.0.0.1:8080; root $PWD/$1; }
}
CODE
}
ask() {
    exec 4<>/dev/tcp/127.0.0.1/8080
    printf 'GET /page HTTP/1.0\r\nHost: localhost\r\n\r\n' >&4
    tr -d '\r' <&4 | sed -n '1p; $p'
    exec 4<&-
}
said() { # waits for a line of the log
    while read -r line <&3; do
        echo "$line" >&2
        [[ $line != *"$1"* ]] || return 0
    done
    return 1
}
mkfifo log
configuration files >nginx.conf
nginx -e stderr -p "$PWD" -c nginx.conf 2>log &
master=$!
exec 3<log
said 'start worker process '
said 'start worker process '
ask
configuration other >nginx.conf
nginx -e stderr -p "$PWD" -c nginx.conf -s reload
said 'exited with code 0' # the old workers take no more connections
said 'exited with code 0'
ask
nginx -e stderr -p "$PWD" -c nginx.conf -s quit
status=0
cat <&3 >&2
wait $master || status=$?
echo "ended $status"
