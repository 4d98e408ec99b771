// The half of a session that is not in a cookie. Browsers send cookies to other ports of the host, too, where other
// programs may listen. This key came after the `#` of the address, which browsers never send, and is stored for this
// origin only. A foreign page can lead a browser here with a made-up key, so a key that the server does not accept
// replaces none.

const NAME = "plimsoll-key";
/** Without storage, the key lasts as long as the page. */
let held = "";
/** Resolves when the server has checked the key of the address. */
let judged: Promise<void> = Promise.resolve();

/** Headers of every request that changes something. */
export const headersWith = (one: string) => ({ "Content-Type": "application/json", "X-Plimsoll-Key": one });

/** Removes the key from the address. */
export function take(): void {
  const found = /^#key=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (!found) return;
  history.replaceState(null, "", "/");
  judged = judge(found);
}

async function judge(found: string): Promise<void> {
  try {
    const init: RequestInit = { method: "POST", credentials: "same-origin", headers: headersWith(found), body: "{}" };
    if (!(await fetch("/api/key", init)).ok) return;
  } catch {
    // No response: nothing can be changed now, and the printed address contains the key again.
    return;
  }
  held = found;
  try {
    localStorage.setItem(NAME, found);
  } catch {
    // Storage is unavailable.
  }
}

/** Returns the key that the server requires for changes. */
export async function key(): Promise<string> {
  await judged;
  try {
    // Another page of this browser may have signed in again.
    return localStorage.getItem(NAME) ?? held;
  } catch {
    return held;
  }
}
