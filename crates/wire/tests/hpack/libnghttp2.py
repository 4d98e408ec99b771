"""HPACK by libnghttp2, for the tests of HPACK. Each line of standard input is a command; each gets one line back.

    inflate LIMIT             a new decoder whose peer may set a table of LIMIT bytes
    block HEX                 the fields of a block, NAME=VALUE each in hexadecimal digits; or `error CODE`
    deflate LIMIT             a new encoder for a table of at most LIMIT bytes
    resize SIZE               the peer's new limit of that table
    fields NAME=VALUE ...     their block; a `!` before a field: never indexed
"""
import ctypes
import sys

LIBRARY = ctypes.CDLL("libnghttp2.so.14")
FINAL, EMIT, NO_INDEX = 1, 2, 1


class Field(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_void_p),
        ("value", ctypes.c_void_p),
        ("name_bytes", ctypes.c_size_t),
        ("value_bytes", ctypes.c_size_t),
        ("flags", ctypes.c_uint8),
    ]


for name in ["inflate_hd2", "deflate_hd"]:
    getattr(LIBRARY, "nghttp2_hd_" + name).restype = ctypes.c_ssize_t
LIBRARY.nghttp2_hd_deflate_bound.restype = ctypes.c_size_t


def checked(code):
    if code < 0:
        raise OSError(code)
    return code


def inflate(decoder, block):
    field, flags, at = Field(), ctypes.c_int(0), 0
    whole = ctypes.create_string_buffer(block, len(block) or 1)
    fields = []
    while True:
        flags.value = 0
        here = ctypes.c_void_p(ctypes.addressof(whole) + at)
        left = ctypes.c_size_t(len(block) - at)
        read = LIBRARY.nghttp2_hd_inflate_hd2(decoder, ctypes.byref(field), ctypes.byref(flags), here, left, 1)
        at += checked(read)
        if flags.value & EMIT:
            name = ctypes.string_at(field.name, field.name_bytes)
            fields.append(name.hex() + "=" + ctypes.string_at(field.value, field.value_bytes).hex())
        if flags.value & FINAL:
            break
        if not flags.value & EMIT and at == len(block):
            raise OSError("truncated")
    LIBRARY.nghttp2_hd_inflate_end_headers(decoder)
    return " ".join(fields)


def deflate(encoder, fields):
    kept, array = [], (Field * len(fields))()
    for place, text in zip(array, fields):
        name, value = (bytes.fromhex(part) for part in text.lstrip("!").split("="))
        buffers = [ctypes.create_string_buffer(part, len(part) or 1) for part in (name, value)]
        kept.append(buffers)
        place.name, place.value = (ctypes.addressof(buffer) for buffer in buffers)
        place.name_bytes, place.value_bytes = len(name), len(value)
        place.flags = NO_INDEX if text.startswith("!") else 0
    bound = LIBRARY.nghttp2_hd_deflate_bound(encoder, array, ctypes.c_size_t(len(fields)))
    out = ctypes.create_string_buffer(bound)
    used = LIBRARY.nghttp2_hd_deflate_hd(encoder, out, ctypes.c_size_t(bound), array, ctypes.c_size_t(len(fields)))
    return out.raw[: checked(used)].hex()


decoder, encoder = ctypes.c_void_p(), ctypes.c_void_p()
for line in sys.stdin:
    command, *words = line.split()
    answer = ""
    try:
        if command == "inflate":
            if decoder:
                LIBRARY.nghttp2_hd_inflate_del(decoder)
            checked(LIBRARY.nghttp2_hd_inflate_new(ctypes.byref(decoder)))
            checked(LIBRARY.nghttp2_hd_inflate_change_table_size(decoder, ctypes.c_size_t(int(words[0]))))
        elif command == "block":
            answer = inflate(decoder, bytes.fromhex(words[0] if words else ""))
        elif command == "deflate":
            if encoder:
                LIBRARY.nghttp2_hd_deflate_del(encoder)
            checked(LIBRARY.nghttp2_hd_deflate_new(ctypes.byref(encoder), ctypes.c_size_t(int(words[0]))))
        elif command == "resize":
            checked(LIBRARY.nghttp2_hd_deflate_change_table_size(encoder, ctypes.c_size_t(int(words[0]))))
        elif command == "fields":
            answer = deflate(encoder, words)
        else:
            raise SystemExit(f"unknown command `{command}`")
    except OSError as error:
        answer = f"error {error}"
    print(answer, flush=True)
