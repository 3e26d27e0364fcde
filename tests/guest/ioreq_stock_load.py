# SPDX-License-Identifier: GPL-2.0
"""Make system calls on sockets, files and pipes; copy descriptors; then wait."""
import os, select, socket, threading
open("/proc/self/comm", "w").write("load")

def serve(listener):
    connection, _ = listener.accept()
    while True:
        data = connection.recv(5000)
        if not data:
            break
        connection.send(data * 2)
    connection.close()

listener = socket.create_server(("127.0.0.1", 8081))
thread = threading.Thread(target=serve, args=(listener,))
thread.start()
client = socket.create_connection(("127.0.0.1", 8081))
for i in range(100):
    client.send(b"x" * (100 + i))
    rest = 2 * (100 + i)
    while rest:
        rest -= len(client.recv(rest))
client.close()
thread.join()
fd = os.open("a file", os.O_RDWR | os.O_CREAT, 0o644)
for i in range(50):
    os.pwrite(fd, b"y" * 1000, 1000 * i)
os.fsync(fd)
copy = os.open("its copy", os.O_WRONLY | os.O_CREAT, 0o644)
os.lseek(fd, 0, 0)
os.sendfile(copy, fd, 0, 30000)
again = os.dup(fd)
os.dup2(fd, 100)
os.close(fd)
for i in range(20):
    os.pread(again, 500, 100)
    os.pread(100, 300, 100)
os.close(again)
try:
    os.pread(again, 1, 0)
except OSError:
    pass
a, b = os.pipe()
os.write(b, b"z" * 700)
os.read(a, 1000)
if not os.fork():
    os.read(100, 123)
    os._exit(0)
os.wait()
try:
    os.open("nowhere/to be found", os.O_RDONLY)
except OSError:
    pass
for i in range(3):
    select.select([a], [], [], 0.2)
# From here on it waits for its end
open("ready", "w").close()
os.read(a, 1)
