// A server that tests a WebSocket client as the Autobahn test suite does: the same groups of cases, with frames written
// by hand. A client that connects to `/case/ID`, over HTTP/1.1 or over HTTP/2 (RFC 8441) on the same port, gets the
// frames of that case, must return every message, and must close the socket where the standard says so. `/cases` lists
// the cases, `/stats` has the verdict on each that was run. It prints `listening on ADDRESS:PORT` and ends when its
// stdin does.
import { createHash } from "node:crypto";
import { createServer as createHttp1 } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { createServer } from "node:net";
import { deflateRawSync, inflateRawSync, constants } from "node:zlib";

const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10];
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** Between two small pieces, so that they arrive alone. */
const PAUSE_MS = 1;
/** A client that does nothing fails its case. */
const DEADLINE_MS = 10_000;

/** @type {Map<string, Case>} */
const cases = new Map();
const verdicts = {};

/**
 * @typedef {{ id: string, send: (Buffer | { rest: Buffer, by: number })[], expect: [number, Buffer][],
 *   ends: "clean" | "failed" | "closed", codes?: number[], optional?: number, deflate?: object }} Case
 * `send`: frames, some in pieces. `expect`: frames that the client sends. `ends`: `clean` is closed by this server after
 * all were received; `failed` by the client with one of `codes`, or without a close frame; `closed` by frames of the case.
 * `optional`: so many of the last expected frames may be missing, because the fault may be noticed before them.
 */

function frame(opcode, payload = Buffer.alloc(0), { fin = true, rsv = 0 } = {}) {
  const bytes = Buffer.from(payload);
  const first = (fin ? 0x80 : 0) | (rsv << 4) | opcode;
  if (bytes.length < 126) return Buffer.concat([Buffer.from([first, bytes.length]), bytes]);
  const head = Buffer.alloc(bytes.length < 65536 ? 4 : 10);
  head[0] = first;
  if (bytes.length < 65536) {
    head[1] = 126;
    head.writeUInt16BE(bytes.length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(bytes.length), 2);
  }
  return Buffer.concat([head, bytes]);
}

const text = (payload, options) => frame(TEXT, payload, options);
const pieces = (bytes, by = 1) => ({ rest: bytes, by });
const closing = (code, reason = "") => {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code, 0);
  return Buffer.concat([payload, Buffer.from(reason)]);
};
const echo = (payload, opcode = TEXT) => [opcode, Buffer.from(payload)];

function add(id, send, rest) {
  cases.set(id, { id, send: [send].flat(), expect: [], ends: "clean", ...rest });
}
const echoes = (id, send, ...payloads) => add(id, send, { expect: payloads.map((one) => echo(one)) });
const fails = (id, send, codes = [1002], rest = {}) => add(id, send, { ends: "failed", codes, ...rest });

/** A message in fragments of these payloads. */
function fragments(opcode, parts) {
  return parts.map((part, at) => frame(at ? CONTINUATION : opcode, part, { fin: at === parts.length - 1 }));
}

/** A message in fragments of this many bytes. */
function fragmentsOf(opcode, bytes, by) {
  const parts = [];
  for (let at = 0; at < bytes.length || !at; at += by) parts.push(bytes.subarray(at, at + by));
  return fragments(opcode, parts);
}

// 1: messages of several lengths.
[0, 125, 126, 127, 128, 65_535, 65_536].forEach((length, at) => {
  echoes(`1.1.${at + 1}`, text("*".repeat(length)), "*".repeat(length));
  const binary = Buffer.alloc(length, 0xfe);
  add(`1.2.${at + 1}`, frame(BINARY, binary), { expect: [echo(binary, BINARY)] });
});
echoes("1.1.8", pieces(text("*".repeat(65_536)), 997), "*".repeat(65_536));
add("1.2.8", pieces(frame(BINARY, Buffer.alloc(65_536, 0xfe)), 997), { expect: [echo(Buffer.alloc(65_536, 0xfe), BINARY)] });

// 2: pings and pongs.
const pong = (payload) => [PONG, Buffer.from(payload)];
const odd = Buffer.from("00fffefdfcfb00ff", "hex");
const long = Buffer.alloc(125, 0xfe);
add("2.1", frame(PING), { expect: [pong("")] });
add("2.2", frame(PING, "Hello, world!"), { expect: [pong("Hello, world!")] });
add("2.3", frame(PING, odd), { expect: [pong(odd)] });
add("2.4", frame(PING, long), { expect: [pong(long)] });
fails("2.5", frame(PING, Buffer.alloc(126, 0xfe)));
add("2.6", pieces(frame(PING, long)), { expect: [pong(long)] });
// A ping shows that the client has read the pong.
add("2.7", [frame(PONG), frame(PING, "on")], { expect: [pong("on")] });
add("2.8", [frame(PONG, "unsolicited"), frame(PING, "on")], { expect: [pong("on")] });
add("2.9", [frame(PONG, "unsolicited"), frame(PING, "our own")], { expect: [pong("our own")] });
const ten = Array.from({ length: 10 }, (_, at) => `payload-${at}`);
add("2.10", ten.map((one) => frame(PING, one)), { expect: ten.map(pong) });
add("2.11", ten.map((one) => pieces(frame(PING, one))), { expect: ten.map(pong) });

// 3: reserved bits. Where a message is before the fault, its echo may or may not be sent.
const small = "small text";
const before = { expect: [echo(small)], optional: 1 };
fails("3.1", text(small, { rsv: 4 }));
fails("3.2", [text(small), text(small, { rsv: 2 }), frame(PING)], [1002], before);
fails("3.3", [text(small), text(small, { rsv: 6 }), frame(PING)], [1002], before);
fails("3.4", [text(small), pieces(text(small, { rsv: 1 }))], [1002], before);
fails("3.5", frame(BINARY, odd, { rsv: 5 }));
fails("3.6", frame(PING, "x", { rsv: 6 }));
fails("3.7", frame(CLOSE, closing(1000), { rsv: 7 }));

// 4: opcodes without a meaning.
[3, 4, 5, 6, 7].forEach((opcode, at) => {
  const first = at > 1 ? [text(small)] : [];
  fails(`4.1.${at + 1}`, [...first, frame(opcode, at % 2 ? "x" : ""), frame(PING)], [1002], at > 1 ? before : {});
});
[11, 12, 13, 14, 15].forEach((opcode, at) => {
  const first = at > 1 ? [text(small)] : [];
  fails(`4.2.${at + 1}`, [...first, frame(opcode, at % 2 ? "x" : ""), frame(PING)], [1002], at > 1 ? before : {});
});

// 5: fragments.
const [one, two] = ["fragment1", "fragment2"];
fails("5.1", [frame(PING, one, { fin: false }), frame(CONTINUATION, two)]);
fails("5.2", [frame(PONG, one, { fin: false }), frame(CONTINUATION, two)]);
echoes("5.3", Buffer.concat(fragments(TEXT, [one, two])), one + two);
echoes("5.4", fragments(TEXT, [one, two]), one + two);
echoes("5.5", fragments(TEXT, [one, two]).map((part) => pieces(part)), one + two);
const interrupted = [text(one, { fin: false }), frame(PING, "ping"), frame(CONTINUATION, two)];
const answered = { expect: [pong("ping"), echo(one + two)] };
add("5.6", Buffer.concat(interrupted), answered);
add("5.7", interrupted, answered);
add("5.8", interrupted.map((part) => pieces(part)), answered);
const stray = (fin) => [frame(CONTINUATION, "non-continuation", { fin }), text("Hello, world!")];
fails("5.9", Buffer.concat(stray(true)));
fails("5.10", stray(true));
fails("5.11", stray(true).map((part) => pieces(part)));
fails("5.12", Buffer.concat(stray(false)));
fails("5.13", stray(false));
fails("5.14", stray(false).map((part) => pieces(part)));
fails("5.15", [...fragments(TEXT, [one, two]), frame(CONTINUATION, "3", { fin: false }), text("4")], [1002], {
  expect: [echo(one + two)],
  optional: 1,
});
const again = [0, 1].flatMap(() => [frame(CONTINUATION, one, { fin: false }), text(two, { fin: false }), frame(CONTINUATION, "3")]);
fails("5.16", again);
fails("5.17", again.map((_, at) => (at % 3 ? again[at] : frame(CONTINUATION, one))));
fails("5.18", [text(one, { fin: false }), text(two)]);
const five = ["fragment1", "fragment2", "fragment3", "fragment4", "fragment5"];
const parts = fragments(TEXT, five);
const pinged = [parts[0], parts[1], frame(PING, "pongme 1!"), parts[2], parts[3], frame(PING, "pongme 2!"), parts[4]];
const ponged = { expect: [pong("pongme 1!"), pong("pongme 2!"), echo(five.join(""))] };
add("5.19", pinged, ponged);
add("5.20", pinged.map((part) => pieces(part)), ponged);

// 6: UTF-8.
echoes("6.1.1", text(""), "");
echoes("6.1.2", fragments(TEXT, ["", "", ""]), "");
echoes("6.1.3", fragments(TEXT, ["", "middle frame payload", ""]), "middle frame payload");
const valid = Buffer.from("Hello-µ@ßöäüàá-UTF-8!!");
echoes("6.2.1", text(valid), valid);
echoes("6.2.2", fragments(TEXT, [valid.subarray(0, 12), valid.subarray(12)]), valid);
echoes("6.2.3", fragmentsOf(TEXT, valid, 1), valid);
const kosme = Buffer.from("κόσμε");
echoes("6.2.4", fragmentsOf(TEXT, kosme, 1), kosme);
const utf8 = [1007];
const broken = Buffer.concat([kosme, Buffer.from([0xed, 0xa0, 0x80]), Buffer.from("edited")]);
fails("6.3.1", text(broken), utf8);
fails("6.3.2", fragmentsOf(TEXT, broken, 1), utf8);
// 6.4 fails fast: the message never ends.
const cut = Buffer.concat([kosme, Buffer.from([0xf4, 0x90, 0x80, 0x80])]);
fails("6.4.1", [text(cut.subarray(0, 12), { fin: false }), frame(CONTINUATION, cut.subarray(12), { fin: false })], utf8);
fails("6.4.2", [text(cut.subarray(0, 13), { fin: false })], utf8);
const head = Buffer.from([0x01, 100]);
fails("6.4.3", [Buffer.concat([head, cut])], utf8);
fails("6.4.4", [pieces(Buffer.concat([head, cut]))], utf8);
// Sequences of Markus Kuhn's test of decoders, by the groups of Autobahn.
const sequences = {
  6.5: ["ceba,0", "cebae1,0", "cebae1bd,0", "cebae1bdb9,1", "cebae1bdb9cf83ce,0", "cebae1bdb9cf83cebcceb5,1"],
  6.6: ["ce,0", "ceba,1", "cebae1,0", "cebae1bd,0", "cebae1bdb9cf,0", "cebae1bdb9cf83,1"],
  6.7: ["00,1", "c280,1", "e0a080,1", "f0908080,1"],
  6.8: ["f888808080,0", "fc8480808080,0"],
  6.9: ["7f,1", "dfbf,1", "efbfbf,1", "f48fbfbf,1"],
  "6.10": ["f7bfbfbf,0", "fbbfbfbfbf,0", "fdbfbfbfbfbf,0"],
  6.11: ["ed9fbf,1", "ee8080,1", "efbfbd,1", "f48fbfbf,1", "f4908080,0"],
  6.12: ["80,0", "bf,0", "80bf,0", "80bf80,0", "80bf80bf,0"],
  6.13: ["c020c120c220,0", "e020e120e220,0", "f020f120f220,0", "f820f920fa20,0", "fc20,0"],
  6.14: ["c0,0", "e080,0", "f08080,0", "f8808080,0", "fc80808080,0", "df,0", "efbf,0", "f7bfbf,0"],
  6.15: ["c0e080f08080f8808080fc80808080dfefbff7bfbffbbfbfbffdbfbfbfbf,0"],
  6.16: ["fe,0", "ff,0", "fefeffff,0"],
  6.17: ["c0af,0", "e080af,0", "f08080af,0", "f8808080af,0", "fc80808080af,0"],
  6.18: ["c1bf,0", "e09fbf,0", "f08fbfbf,0", "f887bfbfbf,0", "fc83bfbfbfbf,0"],
  6.19: ["c080,0", "e08080,0", "f0808080,0", "f880808080,0", "fc8080808080,0"],
  "6.20": ["eda080,0", "edadbf,0", "edae80,0", "edafbf,0", "edb080,0", "edbe80,0", "edbfbf,0"],
  6.21: ["eda080edb080,0", "eda080edbfbf,0", "edadbfedb080,0", "edafbfedbfbf,0"],
  6.22: ["efbfbe,1", "efbfbf,1", "f09fbfbe,1", "f48fbfbf,1"],
  6.23: ["efbfbd,1", "efbfbc,1", "efbbbf,1"],
};
for (const [group, all] of Object.entries(sequences)) {
  all.forEach((line, at) => {
    const [hex, good] = line.split(",");
    const payload = Buffer.from(hex, "hex");
    // Some are valid by the table of UTF-8 whatever the group says, so a second decoder decides.
    const isValid = Buffer.from(payload.toString("utf8")).equals(payload);
    const id = `${group}.${at + 1}`;
    if (good === "1" && isValid) echoes(id, text(payload), payload);
    else if (!isValid) fails(id, text(payload), utf8);
    else echoes(id, text(payload), payload);
  });
}

// 7: the end of a socket. The client answers a close frame with its code, and nothing after it has an effect.
const ended = (code, rest = {}) => ({ ends: "closed", codes: [code], ...rest });
add("7.1.1", [text("Hello World!"), frame(CLOSE, closing(1000))], ended(1000, { expect: [echo("Hello World!")], optional: 1 }));
add("7.1.2", [frame(CLOSE, closing(1000)), frame(CLOSE, closing(1000))], ended(1000));
add("7.1.3", [frame(CLOSE, closing(1000)), frame(PING, "late")], ended(1000));
add("7.1.4", [frame(CLOSE, closing(1000)), text("late")], ended(1000));
add("7.1.5", [text(one, { fin: false }), frame(CLOSE, closing(1000)), frame(CONTINUATION, two)], ended(1000));
const much = "BAsd7&jh23".repeat(26_215);
add("7.1.6", [text(much), frame(CLOSE, closing(1000)), frame(PING, "late")], ended(1000, { expect: [echo(much)], optional: 1 }));
add("7.3.1", frame(CLOSE), ended(1005, { codes: [1000, 1005] }));
fails("7.3.2", frame(CLOSE, "a"));
add("7.3.3", frame(CLOSE, closing(1000)), ended(1000));
add("7.3.4", frame(CLOSE, closing(1000, "Hello World!")), ended(1000));
add("7.3.5", frame(CLOSE, closing(1000, "*".repeat(123))), ended(1000));
fails("7.3.6", frame(CLOSE, closing(1000, "*".repeat(124))));
fails("7.5.1", frame(CLOSE, Buffer.concat([closing(1000), broken])), [1002, 1007]);
[1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999].forEach((code, at) => {
  add(`7.7.${at + 1}`, frame(CLOSE, closing(code)), ended(code));
});
[0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999].forEach((code, at) => {
  fails(`7.9.${at + 1}`, frame(CLOSE, closing(code)));
});
fails("7.13.1", frame(CLOSE, closing(5000)));
fails("7.13.2", frame(CLOSE, closing(65_535)));

// 9: large messages, whole, in fragments, and in pieces.
const KIB = 1024;
[64, 256, 1024, 4096].forEach((kib, at) => {
  const payload = "*".repeat(kib * KIB);
  echoes(`9.1.${at + 1}`, text(payload), payload);
  const binary = Buffer.alloc(kib * KIB, 0xfe);
  add(`9.2.${at + 1}`, frame(BINARY, binary), { expect: [echo(binary, BINARY)] });
});
[1, 4, 16, 64].forEach((kib, at) => {
  const bytes = Buffer.alloc(1024 * KIB, "*");
  echoes(`9.3.${at + 1}`, fragmentsOf(TEXT, bytes, kib * KIB), bytes);
  add(`9.4.${at + 1}`, fragmentsOf(BINARY, bytes, kib * KIB), { expect: [echo(bytes, BINARY)] });
  echoes(`9.5.${at + 1}`, pieces(text(bytes), kib * KIB), bytes);
});
[0, 16, 64, 256].forEach((length, at) => {
  const payload = "*".repeat(length);
  echoes(`9.7.${at + 1}`, Array(200).fill(text(payload)), ...Array(200).fill(payload));
});
// 10: a message of 64 KiB in fragments of 1,300 bytes.
echoes("10.1.1", fragmentsOf(TEXT, Buffer.alloc(65_536, "*"), 1300), "*".repeat(65_536));

// 12 and 13: compression, with the terms of each group.
const line = '{"id": 1, "name": "a line that repeats with a number"}, ';
const terms = {
  12.1: "permessage-deflate",
  12.2: "permessage-deflate; server_no_context_takeover",
  13.1: "permessage-deflate; client_no_context_takeover",
  13.2: "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
  13.3: "permessage-deflate; server_max_window_bits=9; server_no_context_takeover",
  13.4: "permessage-deflate; client_max_window_bits=9",
  13.5: "permessage-deflate; client_max_window_bits=8; client_no_context_takeover",
  13.6: "permessage-deflate; client_max_window_bits=12; server_max_window_bits=10; server_no_context_takeover",
};
for (const [group, extension] of Object.entries(terms)) {
  [0, 16, 125, 4096, 131_072].forEach((length, at) => {
    const messages = Array.from({ length: 8 }, (_, n) => (line + n).repeat(1 + length / line.length).slice(0, length));
    const keepsOwn = !extension.includes("server_no_context_takeover");
    const bitsOf = (side) => Number(new RegExp(`${side}_max_window_bits=(\\d+)`).exec(extension)?.[1] ?? 15);
    const keepsTheirs = !extension.includes("client_no_context_takeover");
    const deflate = { extension, keepsOwn, keepsTheirs, clientBits: bitsOf("client") };
    const windowBits = bitsOf("server");
    let window = Buffer.alloc(0);
    const send = messages.map((message, n) => {
      const plain = Buffer.from(message);
      const packed = pack(plain, window, windowBits);
      if (keepsOwn) window = Buffer.concat([window, plain]).subarray(-32_768);
      // One message of each case is in fragments: only the first has the bit.
      if (n !== 3 || packed.length < 2) return text(packed, { rsv: 4 });
      return Buffer.concat([text(packed.subarray(0, 1), { rsv: 4, fin: false }), frame(CONTINUATION, packed.subarray(1))]);
    });
    // A message may also be sent as it is.
    send.push(text("plain"));
    add(`${group}.${at + 1}`, send, { expect: [...messages, "plain"].map((one) => echo(one)), deflate });
  });
}
fails("12.3.1", text(Buffer.from([0xff, 0xff, 0xff]), { rsv: 4 }), [1002, 1007], { deflate: { extension: terms["12.1"] } });
fails("12.3.2", frame(PING, "x", { rsv: 4 }), [1002], { deflate: { extension: terms["12.1"] } });

/** One message by RFC 7692: without the last four bytes. The window of earlier messages is a dictionary. */
function pack(plain, window, windowBits) {
  const dictionary = window.length ? window : undefined;
  const packed = deflateRawSync(plain, { finishFlush: constants.Z_SYNC_FLUSH, windowBits, dictionary });
  const whole = packed.subarray(-4).equals(Buffer.from([0, 0, 0xff, 0xff])) ? packed.subarray(0, -4) : packed;
  return whole.length ? whole : Buffer.from([0]);
}

/** Reads the frames of the client, and says what it did wrong. */
class Reader {
  constructor(one) {
    this.one = one;
    this.held = Buffer.alloc(0);
    this.message = null;
    this.window = Buffer.alloc(0);
    this.frames = [];
    this.code = null;
    this.wrong = null;
  }

  feed(bytes) {
    this.held = this.held.length ? Buffer.concat([this.held, bytes]) : bytes;
    while (this.wrong === null && this.code === null && this.frame());
  }

  frame() {
    const held = this.held;
    if (held.length < 2) return false;
    const [first, second] = held;
    let [at, length] = [2, second & 0x7f];
    if (!(second & 0x80)) return this.complain("a frame of the client is not masked");
    if (length === 126) [at, length] = [4, held.length < 4 ? Infinity : held.readUInt16BE(2)];
    else if (length === 127) [at, length] = [10, held.length < 10 ? Infinity : Number(held.readBigUInt64BE(2))];
    if (held.length < at + 4 + length) return false;
    const mask = held.subarray(at, at + 4);
    const payload = Buffer.from(held.subarray(at + 4, at + 4 + length));
    for (let i = 0; i < payload.length; i++) payload[i] ^= mask[i & 3];
    this.held = held.subarray(at + 4 + length);
    const [opcode, fin, rsv] = [first & 0x0f, !!(first & 0x80), (first >> 4) & 7];
    if (rsv & 3 || (rsv && (!this.one.deflate || opcode === CONTINUATION || opcode > BINARY))) {
      return this.complain(`a frame of the client has reserved bits ${rsv}`);
    }
    if (opcode === CLOSE) {
      this.code = payload.length ? payload.readUInt16BE(0) : 1005;
      return true;
    }
    if (opcode > CLOSE) {
      this.frames.push([opcode, payload]);
      return true;
    }
    this.message ??= { opcode, packed: rsv === 4, parts: [] };
    this.message.parts.push(payload);
    if (fin) {
      const { packed, parts } = this.message;
      const whole = Buffer.concat(parts);
      this.frames.push([this.message.opcode, packed ? this.unpack(whole) : whole]);
      this.message = null;
    }
    return true;
  }

  unpack(packed) {
    const bytes = Buffer.concat([packed, Buffer.from([0, 0, 0xff, 0xff])]);
    const dictionary = this.window.length ? this.window : undefined;
    const { clientBits = 15 } = this.one.deflate;
    // zlib also reads what is still in its output buffer, so a small buffer shows that the window is exceeded.
    const chunkSize = clientBits < 15 ? 64 : 16_384;
    const options = { finishFlush: constants.Z_SYNC_FLUSH, dictionary, windowBits: clientBits, chunkSize };
    const plain = inflateRawSync(bytes, options);
    if (this.one.deflate.keepsTheirs) this.window = Buffer.concat([this.window, plain]).subarray(-32_768);
    return plain;
  }

  complain(sentence) {
    this.wrong = sentence;
    return false;
  }
}

const show = ([opcode, payload]) => `${opcode}:${payload.length}:${payload.subarray(0, 24).toString("latin1")}`;

/** Whether the client offered what the server is to choose of its window (RFC 7692 section 7.1.2.2). */
const offersWindow = (one, offer = "") =>
  !one.deflate || one.deflate.clientBits === 15 || /;\s*client_max_window_bits\b/.test(offer);

/** Why the client did not pass; null if it did. */
function judge(one, reader) {
  if (reader.wrong) return reader.wrong;
  const { expect, ends, codes, optional = 0 } = one;
  for (const [at, wanted] of expect.entries()) {
    const got = reader.frames[at];
    if (!got && at >= expect.length - optional) break;
    if (!got || got[0] !== wanted[0] || !got[1].equals(wanted[1])) {
      return `frame ${at} is ${got ? show(got) : "missing"} instead of ${show(wanted)}`;
    }
  }
  if (reader.frames.length > expect.length) return `unexpected frame ${show(reader.frames[expect.length])}`;
  if (ends === "clean") return reader.code === 1000 ? null : `closed with ${reader.code} instead of 1000`;
  // A client may also end the connection at once.
  if (ends === "failed") return reader.code === null || codes.includes(reader.code) ? null : `closed with ${reader.code}`;
  return codes.includes(reader.code) ? null : `closed with ${reader.code} instead of ${codes.join(" or ")}`;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

async function send(one, socket, isOver) {
  for (const part of one.send) {
    if (Buffer.isBuffer(part)) {
      socket.write(part);
      continue;
    }
    for (let at = 0; at < part.rest.length && !isOver(); at += part.by) {
      socket.write(part.rest.subarray(at, at + part.by));
      await pause();
    }
  }
}

function run(one, socket) {
  const reader = new Reader(one);
  let isClosing = false;
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(late);
    verdicts[one.id] = judge(one, reader) ?? "passed";
    socket.end();
  };
  const late = setTimeout(() => {
    reader.wrong ??= `nothing happened for ${DEADLINE_MS} ms: ${reader.frames.length} frames, code ${reader.code}`;
    end();
    socket.destroy();
  }, DEADLINE_MS);
  const look = () => {
    if (reader.code !== null || reader.wrong) return end();
    if (one.ends === "clean" && !isClosing && reader.frames.length >= one.expect.length && isSent) {
      isClosing = true;
      socket.write(frame(CLOSE, closing(1000)));
    }
  };
  let isSent = false;
  socket.on("data", (bytes) => {
    if (isOver) return;
    reader.feed(bytes);
    look();
  });
  socket.on("error", end);
  socket.on("end", end);
  socket.on("close", end);
  void send(one, socket, () => isOver).then(() => {
    isSent = true;
    look();
  });
}

const http1 = createHttp1((request, response) => {
  const list = [...cases.values()].map(({ id, expect, deflate }) => ({
    id,
    kinds: expect.filter(([opcode]) => opcode <= BINARY).map(([opcode]) => (opcode === TEXT ? "text" : "binary")),
    compression: !!deflate,
  }));
  response.writeHead(200, { "Content-Type": "application/json", Connection: "close" });
  response.end(JSON.stringify(request.url === "/cases" ? list : verdicts));
});
http1.on("upgrade", (request, socket) => {
  const one = cases.get(request.url.replace("/case/", ""));
  if (!one || !offersWindow(one, request.headers["sec-websocket-extensions"])) return socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n");
  socket.setNoDelay(true);
  const accept = createHash("sha1").update(request.headers["sec-websocket-key"] + GUID).digest("base64");
  const extension = one.deflate ? `Sec-WebSocket-Extensions: ${one.deflate.extension}\r\n` : "";
  socket.write(
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
      `Sec-WebSocket-Accept: ${accept}\r\n${extension}\r\n`,
  );
  run(one, socket);
});

const http2 = createHttp2({ settings: { enableConnectProtocol: true } });
http2.on("sessionError", () => {});
http2.on("stream", (stream, headers) => {
  stream.on("error", () => {});
  const one = cases.get(headers[":path"].replace("/case/", ""));
  const isOffered = one && offersWindow(one, headers["sec-websocket-extensions"]);
  if (headers[":protocol"] !== "websocket" || !isOffered) return stream.respond({ ":status": 404 }, { endStream: true });
  stream.respond({ ":status": 200, ...(one.deflate && { "sec-websocket-extensions": one.deflate.extension }) });
  run(one, stream);
});

const server = createServer((socket) => {
  socket.on("error", () => {});
  socket.once("data", (bytes) => {
    socket.pause();
    socket.unshift(bytes);
    const isHttp2 = bytes.toString("latin1").startsWith("PRI * HTTP/2.0");
    (isHttp2 ? http2 : http1).emit("connection", socket);
    if (!isHttp2) socket.resume();
  });
});
server.listen(0, "127.0.0.1", () => console.log(`listening on 127.0.0.1:${server.address().port}`));
process.stdin.on("end", () => process.exit(0)).resume();
