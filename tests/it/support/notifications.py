"""A desktop's notification service, as small as can be: writes down what it is told to show.

Speaks D-Bus itself, so that a bus and `notify-send` are all that a machine needs. Writes the address of
its bus to the first file once it can be told something, and each notification as a line of JSON to the
second. Ends when its standard input does.
"""

import json, os, re, socket, struct, sys, threading

address_file, shown_file = sys.argv[1:]
address = os.environ["DBUS_SESSION_BUS_ADDRESS"]


def read_word(data, at):
    """Reads a number at a multiple of four."""
    at = (at + 3) // 4 * 4
    return struct.unpack_from("<I", data, at)[0], at + 4


def read_text(data, at):
    length, at = read_word(data, at)
    return data[at : at + length].decode(), at + length + 1


def text(out, value):
    out += b"\0" * (-len(out) % 4) + struct.pack("<I", len(value.encode())) + value.encode() + b"\0"


def field(out, code, kind, value):
    out += b"\0" * (-len(out) % 8) + bytes([code, 1]) + kind.encode() + b"\0"
    if kind == "u":
        out += struct.pack("<I", value)
    elif kind == "g":
        out += bytes([len(value)]) + value.encode() + b"\0"
    else:
        text(out, value)


def send(kind, serial, fields, body=b""):
    array = bytearray()
    for code, form, value in fields:
        field(array, code, form, value)
    head = struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), serial, len(array)) + array
    bus.sendall(head + b"\0" * (-len(head) % 8) + body)


def call(serial, member, signature="", body=b""):
    bus_name = "org.freedesktop.DBus"
    fields = [(1, "o", "/org/freedesktop/DBus"), (2, "s", bus_name), (3, "s", member), (6, "s", bus_name)]
    send(1, serial, fields + ([(8, "g", signature)] if signature else []), bytes(body))


def receive():
    """Returns the kind of a message, its number, its fields and its body."""
    head = exactly(16)
    _, kind, _, _, body_length, serial, length = struct.unpack("<cBBBIII", head)
    data = head + exactly((length + 7) // 8 * 8)
    fields, at = {}, 16
    while at < 16 + length:
        at = (at + 7) // 8 * 8
        code, form = data[at], chr(data[at + 2])
        at += 4
        if form == "u":
            fields[code], at = read_word(data, at)
        elif form == "g":
            fields[code] = data[at + 1 : at + 1 + data[at]].decode()
            at += data[at] + 2
        else:
            fields[code], at = read_text(data, at)
    return kind, serial, fields, exactly(body_length)


def exactly(count):
    data = b""
    while len(data) < count:
        piece = bus.recv(count - len(data))
        if not piece:
            os._exit(1)
        data += piece
    return data


def answer(member, body):
    """Returns the form of an answer, and the answer."""
    out = bytearray()
    if member == "Notify":
        app, at = read_text(body, 0)
        _, at = read_word(body, at)
        _, at = read_text(body, at)
        title, at = read_text(body, at)
        words, at = read_text(body, at)
        with open(shown_file, "a") as shown:
            shown.write(json.dumps({"app": app, "title": title, "body": words}) + "\n")
        return "u", struct.pack("<I", 1)
    if member == "GetServerInformation":
        for value in ["test", "test", "1", "1.2"]:
            text(out, value)
        return "ssss", bytes(out)
    if member == "GetCapabilities":
        text(out, "body-markup")
        return "as", struct.pack("<I", len(out)) + bytes(out)
    # Properties: there are none.
    return "a{sv}", struct.pack("<II", 0, 0)


threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
bus = socket.socket(socket.AF_UNIX)
path, abstract = re.search(r"path=([^,;]*)", address), re.search(r"abstract=([^,;]*)", address)
bus.connect(path.group(1) if path else "\0" + abstract.group(1))
bus.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
assert bus.recv(1000).startswith(b"OK")
bus.sendall(b"BEGIN\r\n")
call(1, "Hello")
name = bytearray()
text(name, "org.freedesktop.Notifications")
call(2, "RequestName", "su", name + b"\0" * (-len(name) % 4) + struct.pack("<I", 4))
serial = 2
while True:
    kind, number, fields, body = receive()
    if kind == 2 and fields.get(5) == 2:
        with open(address_file + ".new", "w") as ready:
            ready.write(address)
        os.rename(address_file + ".new", address_file)
    elif kind == 1:
        serial += 1
        form, result = answer(fields[3], body)
        send(2, serial, [(5, "u", number), (6, "s", fields[7]), (8, "g", form)], result)
