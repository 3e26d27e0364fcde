<?php
// SPDX-License-Identifier: GPL-2.0
// What php-fpm serves in tests/full/servers: a request asks redis, with its id, which is the
// last part of the path, on a connection that its process keeps.
$id = basename($_SERVER["REQUEST_URI"]);
$redis = pfsockopen("127.0.0.1", 6379);
$bulk = "$" . strlen($id) . "\r\n$id\r\n";
fwrite($redis, "*3\r\n$3\r\nSET\r\n$bulk$bulk");
fgets($redis);
fwrite($redis, "*2\r\n$3\r\nGET\r\n$bulk");
fgets($redis);
$got = rtrim(fgets($redis));
header("X-Id: $got");
header("Content-Length: " . 40 * (strlen($got) + 1));
echo str_repeat("$got\n", 40);
