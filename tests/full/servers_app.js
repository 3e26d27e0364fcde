// SPDX-License-Identifier: GPL-2.0
/*
 * usage: node servers_app.js PORT CONNECTIONS
 *
 * An HTTP server: a request asks the STORES, each on one of its CONNECTIONS, and writes a
 * file. All that it sends has the request's id, which is the last part of the path.
 */
"use strict";
const fs = require("fs"), http = require("http"), net = require("net");

/* Connections that have one request at a time each; other requests wait */
class Pool {
	constructor(port, end) {
		this.end = end;
		this.waiting = [];
		this.free = [];
		for (let i = 0; i < Number(process.argv[3]); i++)
			this.connect(port);
	}
	connect(port) {
		const socket = net.connect(port, "127.0.0.1", () => this.give(socket));
		let got = "";
		socket.on("data", data => {
			got += data;
			if (!this.end(got))
				return;
			got = "";
			const done = socket.done;
			this.give(socket);
			done();
		});
	}
	give(socket) {
		const next = this.waiting.shift();
		if (next)
			this.send(socket, next);
		else
			this.free.push(socket);
	}
	send(socket, [text, done]) {
		socket.done = done;
		socket.write(text);
	}
	ask(text) {
		return new Promise(done => {
			const socket = this.free.pop();
			if (socket)
				this.send(socket, [text, done]);
			else
				this.waiting.push([text, done]);
		});
	}
}

const stores = {
	redis: () => {
		const pool = new Pool(6379, got => /^(\+OK|\$\d+\r\n.*)\r\n$/.test(got));
		return async id => {
			const bulk = `$${id.length}\r\n${id}\r\n`;
			await pool.ask(`*3\r\n$3\r\nSET\r\n${bulk}${bulk}`);
			await pool.ask(`*2\r\n$3\r\nGET\r\n${bulk}`);
		};
	},
	memcached: () => {
		const pool = new Pool(11211, got => /(STORED|END)\r\n$/.test(got));
		return async id => {
			await pool.ask(`set ${id} 0 0 ${id.length}\r\n${id}\r\n`);
			await pool.ask(`get ${id}\r\n`);
		};
	},
};
const asks = process.env.STORES.split(",").map(name => stores[name]());

http.createServer(async (request, response) => {
	const id = request.url.slice(request.url.lastIndexOf("/") + 1);
	for (const ask of asks)
		await ask(id);
	await fs.promises.writeFile(process.env.SPOOL + "/" + id, id.repeat(10));
	response.setHeader("X-Id", id);
	response.end((id + "\n").repeat(40));
}).listen(Number(process.argv[2]), "127.0.0.1");
