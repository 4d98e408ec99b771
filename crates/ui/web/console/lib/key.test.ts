// Keys in the address: the server's own key is kept, and a made-up key replaces none.
import { afterEach, expect, test, vi } from "vitest";

/** A browser that was led to `#key=...` with a key in its storage, and a server that accepts some keys. */
async function led(to: string, kept: string | null, known: string[]) {
  const asked: string[] = [];
  const storage = new Map(kept === null ? [] : [["plimsoll-key", kept]]);
  const address = { now: `/#key=${to}` };
  vi.stubGlobal("location", { hash: `#key=${to}` });
  vi.stubGlobal("history", { replaceState: (_: unknown, __: string, path: string) => (address.now = path) });
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => storage.get(name) ?? null,
    setItem: (name: string, value: string) => storage.set(name, value),
  });
  vi.stubGlobal("fetch", (path: string, init: { headers: Record<string, string> }) => {
    const shown = init.headers["X-Plimsoll-Key"] ?? "";
    asked.push(`${path} ${shown}`);
    return Promise.resolve({ ok: known.includes(shown) });
  });
  vi.resetModules();
  const { key, take } = await import("./key");
  take();
  return { key: await key(), kept: storage.get("plimsoll-key") ?? null, address: address.now, asked };
}

afterEach(() => vi.unstubAllGlobals());

test("a key that the server knows is kept, and leaves the address", async () => {
  const after = await led("ab", "cd", ["ab"]);
  expect(after).toEqual({ key: "ab", kept: "ab", address: "/", asked: ["/api/key ab"] });
});

test("a key that somebody has made up replaces none", async () => {
  expect(await led("00", "cd", ["cd"])).toMatchObject({ key: "cd", kept: "cd", address: "/" });
  expect(await led("00", null, ["cd"])).toMatchObject({ key: "", kept: null, address: "/" });
});

test("what is no key asks nobody", async () => {
  expect(await led("<b>", "cd", [])).toMatchObject({ key: "cd", kept: "cd", asked: [] });
});
