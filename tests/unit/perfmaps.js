// SPDX-License-Identifier: GPL-2.0
// For test_ioreq_perfmaps.sh: a function that node compiles
"use strict";

const fs = require("fs");

function readSettings(times) {
	const bytes = Buffer.alloc(100);
	let sum = 0;

	for (let i = 0; i < times; i++) {
		const fd = fs.openSync("/dev/zero");

		sum += fs.readSync(fd, bytes, 0, 100, 0);
		fs.closeSync(fd);
	}
	return sum;
}

let sum = 0;

for (let i = 0; i < 400; i++)
	sum += readSettings(100);
process.exitCode = sum === 4000000 ? 0 : 1;
